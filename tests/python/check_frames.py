"""Frames as VTK reads them: points, surfaces and contacts with their data, and forces that agree with forces.csv."""
import os, sys, tempfile, xml.etree.ElementTree
from talus_runs import *

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    print("python3-vtk9 is not here: frames are not read back")
    sys.exit(77)

bad = Failures()


def read(path):
    reader = vtk.vtkXMLPolyDataReader()
    problems = []
    reader.AddObserver("ErrorEvent", lambda *a: problems.append(1))
    reader.SetFileName(path)
    reader.Update()
    bad.check(f"VTK reads {os.path.basename(path)}", not problems)
    return reader.GetOutput()


def point_arrays(data):
    return {data.GetPointData().GetArrayName(k): vtk_to_numpy(data.GetPointData().GetArray(k))
            for k in range(data.GetPointData().GetNumberOfArrays())}


with tempfile.TemporaryDirectory() as d:
    out = os.path.join(d, "out")
    code, said = run(write_scene(d), "--out", out, "--threads", 1)
    bad.check("run", code == 0, said)
    series = {}
    for name in ("bodies", "shapes", "contacts"):
        entries = xml.etree.ElementTree.parse(f"{out}/frames/{name}.pvd").getroot().find("Collection")
        series[name] = [(float(e.get("timestep")), os.path.join(out, "frames", e.get("file"))) for e in entries]
        bad.check(f"{name}: a frame every 0.01 s", [round(t, 9) for t, _ in series[name]] == [round(0.01 * k, 9) for k in range(11)], series[name])

    for time, path in series["bodies"]:
        data = read(path)
        a = point_arrays(data)
        bad.check("a point per body", data.GetNumberOfPoints() == 62 and data.GetNumberOfVerts() == 62, data.GetNumberOfPoints())
        bad.check("body data", set(a) == {"id", "radius", "velocity", "angular_velocity", "orientation", "mass", "material", "name", "shape", "mobility"}, set(a))
        bad.check("ids are distinct", len(set(a["id"])) == 62)
        bad.check("radii as asked", ((a["radius"][a["shape"] == 0] >= 0.00599) & (a["radius"][a["shape"] == 0] <= 0.00901)).all())
        bad.check("orientations are unit, w first", abs((a["orientation"] ** 2).sum(axis=1) - 1).max() < 1e-6)
        shown = vtk_to_numpy(data.GetFieldData().GetArray("TimeValue"))[0]
        bad.check("time", abs(shown - time) < 1e-12, (shown, time))
        names = data.GetFieldData().GetAbstractArray("names")
        known = [names.GetValue(k) for k in range(names.GetNumberOfValues())]
        bad.check("names", {"bin", "crate", "paddle"} <= set(known), known)

    moved = [point_arrays(read(series["bodies"][k][1])) for k in (0, -1)]
    bad.check("bodies move", abs(moved[0]["velocity"].sum() - moved[1]["velocity"].sum()) > 0)

    data = read(series["shapes"][-1][1])
    bad.check("surfaces: two boxes and a bin without lid", data.GetNumberOfPolys() == 6 + 6 + 5, data.GetNumberOfPolys())
    box = data.GetBounds()
    bad.check("the bin where it is", all(abs(x - y) < 1e-9 for x, y in zip(box, (-0.1, 0.1, -0.1, 0.1, 0, 0.4))), box)

    steps = {int(r["step"]): r for r in rows(out)}
    forces = rows(out, "forces.csv")
    for time, path in series["contacts"][1:]:
        data, step = read(path), round(time / 1e-3)
        a = point_arrays(data)
        bad.check("contacts: as many as steps.csv says", data.GetNumberOfPoints() == int(steps[step]["contacts"]))
        if data.GetNumberOfPoints() == 0:
            continue
        bad.check("contact data", set(a) == {"normal", "force", "normal_force", "gap", "friction", "bodies"}, set(a))
        bad.check("normals are unit", abs((a["normal"] ** 2).sum(axis=1) - 1).max() < 1e-6)
        bad.check("forces push", (a["normal_force"] >= 0).all())
        # what the bin feels, from the contacts and from forces.csv
        sides = a["bodies"]
        bin_id = [i for i in set(sides.flatten()) if i not in moved[0]["id"]]
        if not bin_id:
            continue
        felt = a["force"][sides[:, 1] == bin_id[0]].sum(axis=0) - a["force"][sides[:, 0] == bin_id[0]].sum(axis=0)
        row = [r for r in forces if int(r["step"]) == step and r["body"] == "bin" and r["face"] == ""][0]
        told = [float(row[f"force_{c}_N"]) for c in "xyz"]
        bad.check("force on the bin", max(abs(felt - told)) <= 1e-5 * (1 + max(map(abs, told))), (step, felt, told))
        faces = [r for r in forces if int(r["step"]) == step and r["body"] == "bin" and r["face"] != ""]
        total = [sum(float(r[f"force_{c}_N"]) for r in faces) for c in "xyz"]
        bad.check("faces sum up to the bin", max(abs(x - y) for x, y in zip(total, told)) <= 1e-6 * (1 + max(map(abs, told))), (total, told))
    bad.check("the last frame has contacts", read(series["contacts"][-1][1]).GetNumberOfPoints() > 10)
bad.end("frames are read back by VTK and agree with forces.csv")
