// CSV tables that are taken up again, and the totals of a run.
#include "talus/io/telemetry.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "io/small_world.hpp"
#include "io/temporary.hpp"

namespace talus {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CsvFile, IsTakenUpWithoutDoubleRows) {
  const TemporaryDirectory dir;
  const std::string path = dir / "t.csv";
  {
    CsvFile file(path, "step,x");
    for (int k = 1; k <= 9; ++k) file.row(std::to_string(k) + ",1.5");
  }
  std::ofstream(path, std::ios::app) << "10,1.";  // the run was killed in the middle of a row
  {
    CsvFile file(path, "step,x", 7);
    EXPECT_EQ(file.note(), "");
    file.row("8,2.5");
  }
  EXPECT_EQ(text_of(path), "step,x\n1,1.5\n2,1.5\n3,1.5\n4,1.5\n5,1.5\n6,1.5\n7,1.5\n8,2.5\n");
  {
    CsvFile file(path, "step,x", 8);  // nothing to remove
    EXPECT_EQ(file.note(), "");
    file.row("9,3.5");
  }
  EXPECT_EQ(text_of(path).substr(text_of(path).size() - 12), "8,2.5\n9,3.5\n");
}

TEST(CsvFile, SeveralRowsOfOneStepStayTogether) {
  const TemporaryDirectory dir;
  const std::string path = dir / "t.csv";
  std::ofstream(path) << "step,body\n1,a\n1,b\n2,a\n2,b\n3,a\n";
  { CsvFile file(path, "step,body", 2); }
  EXPECT_EQ(text_of(path), "step,body\n1,a\n1,b\n2,a\n2,b\n");
}

TEST(CsvFile, SaysWhatIsMissing) {
  const TemporaryDirectory dir;
  EXPECT_NE(CsvFile(dir / "none.csv", "step", 5).note(), "");
  std::ofstream(dir / "other.csv") << "a,b\n1,2\n";
  EXPECT_NE(CsvFile(dir / "other.csv", "step", 5).note(), "");
  EXPECT_EQ(text_of(dir / "other.csv.before"), "a,b\n1,2\n");  // not thrown away
  std::ofstream(dir / "short.csv") << "step\n1\n2\n";
  EXPECT_NE(CsvFile(dir / "short.csv", "step", 5).note(), "");
}

TEST(CsvFile, QuotesWhatMustBeQuoted) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

StepRecord some_record(Global contacts, int iterations, Real scaled, Status status) {
  StepRecord r;
  r.h = 0.5;
  r.report.contacts = contacts;
  r.report.solve.iterations = iterations;
  r.report.solve.applications = 2 * iterations;
  r.report.solve.scaled = scaled;
  r.report.solve.status = status;
  r.report.kinetic_energy = static_cast<Real>(iterations);
  r.forces = {{0, -1, Vec3(1, 0, 0) * iterations, Vec3::Zero()}};
  return r;
}

TEST(RunTotals, SumUpTheSteps) {
  RunTotals t;
  t.add(1, some_record(10, 5, 1e-4, Status::converged));
  t.add(2, some_record(30, 50, 1e-2, Status::max_iterations));
  t.add(3, some_record(20, 8, 1e-4, Status::converged));
  EXPECT_EQ(t.steps, 3);
  EXPECT_EQ(t.contacts_first, 10);
  EXPECT_EQ(t.contacts_max, 30);
  EXPECT_EQ(t.contacts_last, 20);
  EXPECT_EQ(t.contacts_sum, 60);
  EXPECT_EQ(t.iterations_max, 50);
  EXPECT_EQ(t.applications_sum, 126);
  EXPECT_EQ(t.unconverged_steps, 1);
  EXPECT_EQ(t.worst_step, 2);
  EXPECT_EQ(t.scaled_max, 1e-2);
  EXPECT_EQ(t.scaled_last, 1e-4);
  EXPECT_EQ(t.kinetic_energy, 8);
}

TEST(StepRecord, PiecesAddUp) {
  StepRecord a = some_record(10, 5, 1e-4, Status::converged);
  StepRecord b = some_record(12, 7, 2e-4, Status::converged);
  b.h = 1.5;
  add_piece(a, b);
  EXPECT_EQ(a.h, 2);
  EXPECT_EQ(a.pieces, 2);
  EXPECT_EQ(a.report.contacts, 12);
  EXPECT_EQ(a.report.solve.iterations, 12);
  EXPECT_EQ(a.report.solve.scaled, 2e-4);
  EXPECT_DOUBLE_EQ(a.forces[0].force.x(), 0.25 * 5 + 0.75 * 7);
}

TEST(Telemetry, HasARowPerStepAndNamedBody) {
  const TemporaryDirectory dir;
  World world = small_world();
  StepRecord record = some_record(3, 4, 1e-5, Status::converged);
  record.forces = {{1, -1, Vec3(1, 2, 3), Vec3(4, 5, 6)},
                   {2, static_cast<int>(Face::floor), Vec3::Zero(), Vec3::Zero()}};
  {
    Telemetry telemetry(dir.path(), std::nullopt);
    telemetry.write(world, record);
  }
  const std::string steps = text_of(dir / "steps.csv"), forces = text_of(dir / "forces.csv");
  EXPECT_EQ(steps.substr(0, steps.find(',')), "step");
  EXPECT_NE(steps.find("\n12,0.125,0.5,1,3,0,4,8,1e-05,0,converged,4,"), std::string::npos) << steps;
  EXPECT_NE(forces.find("12,0.125,\"floor, \"\"flat\"\"\",,1,2,3,4,5,6\n"), std::string::npos) << forces;
  EXPECT_NE(forces.find("12,0.125,bin,floor,0,0,0,0,0,0\n"), std::string::npos) << forces;
  // every header column has a value
  const auto commas = [](const std::string& s) { return std::count(s.begin(), s.end(), ','); };
  EXPECT_EQ(commas(steps.substr(0, steps.find('\n'))) * 2, commas(steps));
}

}  // namespace
}  // namespace talus
