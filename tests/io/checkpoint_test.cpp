// Checkpoints: all state comes back bit for bit; damage of any kind is seen; the last good one is found.
#include "talus/io/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "io/small_world.hpp"
#include "io/temporary.hpp"
#include "talus/base/error.hpp"
#include "talus/base/random.hpp"
#include "talus/io/snapshot.hpp"

namespace talus {
namespace {

RunState some_state() {
  RunState state;
  double next = 1.25;
  for_each_total(state.totals, [&](const char*, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(next);
    next *= 3;
  });
  state.frame_times = {0, 0.1, 0.2};
  state.energy_scale = 42;
  return state;
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(static_cast<const void*>(a.data()), b.data(), a.size() * sizeof(T)) == 0);
}

void expect_same(const World& a, const World& b) {
  std::vector<std::string> differing;
  for_each_field(a.bodies, [&](const char* name, Sent, const auto& field) {
    for_each_field(b.bodies, [&](const char* other, Sent, const auto& there) {
      if constexpr (std::is_same_v<decltype(field), decltype(there)>)
        if (std::string(name) == other && !same_bits(field, there)) differing.push_back(name);
    });
  });
  EXPECT_EQ(differing, std::vector<std::string>());
  EXPECT_EQ(a.bodies.owned, b.bodies.owned);
  EXPECT_EQ(a.warm_start.key, b.warm_start.key);
  EXPECT_TRUE(same_bits(a.warm_start.impulse, b.warm_start.impulse));
  EXPECT_TRUE(same_bits(a.warm_start.slip, b.warm_start.slip));
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.energy.dissipated, b.energy.dissipated);
  EXPECT_EQ(a.energy.drive_work, b.energy.drive_work);
  EXPECT_EQ(a.energy.initial, b.energy.initial);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Checkpoint, HoldsAllState) {
  const TemporaryDirectory dir;
  const World world = small_world();
  const RunState state = some_state();
  write_checkpoint(dir / "c.hdf5", world, state, "title = \"x\"\n");

  World back = small_world();
  back.bodies.resize(1);
  back.bodies.owned = 1;
  back.warm_start = {};
  back.time = 99;
  back.step = 99;
  back.energy = {};
  RunState state_back;
  read_checkpoint(dir / "c.hdf5", back, state_back);
  expect_same(world, back);
  std::vector<double> before, after;
  for_each_total(state.totals, [&](const char*, auto v) { before.push_back(static_cast<double>(v)); });
  for_each_total(state_back.totals, [&](const char*, auto v) { after.push_back(static_cast<double>(v)); });
  EXPECT_EQ(before, after);
  EXPECT_EQ(state_back.frame_times, state.frame_times);
  EXPECT_EQ(state_back.energy_scale, state.energy_scale);

  const CheckpointInfo info = read_checkpoint_info(dir / "c.hdf5");
  EXPECT_EQ(info.scene, "title = \"x\"\n");
  EXPECT_EQ(info.step, 12);
  EXPECT_EQ(info.time, 0.125);
  EXPECT_EQ(info.bodies, 7);
  EXPECT_EQ(info.contacts, 2);
  EXPECT_EQ(info.frames, 3);
}

TEST(Checkpoint, HoldsAWorldWithoutContacts) {
  const TemporaryDirectory dir;
  World world = small_world();
  world.warm_start = {};
  write_checkpoint(dir / "c.hdf5", world, {}, "");
  World back = small_world();
  RunState state;
  read_checkpoint(dir / "c.hdf5", back, state);
  expect_same(world, back);
}

// A field added to the totals must be added to for_each_total too.
TEST(Checkpoint, TotalsAreAllVisited) {
  std::size_t bytes = 0;
  RunTotals totals;
  for_each_total(totals, [&](const char*, auto& value) { bytes += sizeof value; });
  EXPECT_EQ(bytes, sizeof(RunTotals));
}

TEST(Checkpoint, AnyDamageIsSeen) {
  const TemporaryDirectory dir;
  const std::string path = dir / "c.hdf5", damaged = dir / "damaged.hdf5";
  write_checkpoint(path, small_world(), some_state(), "");
  const std::string whole = bytes_of(path);
  EXPECT_EQ(checkpoint_damage(path), "");
  const auto is_refused = [&](const std::string& bytes) {
    std::ofstream(damaged, std::ios::binary) << bytes;
    World world = small_world();
    RunState state;
    EXPECT_THROW(read_checkpoint(damaged, world, state), InputError);
    expect_same(world, small_world());
    return !checkpoint_damage(damaged).empty();
  };
  Random random(7);
  for (int k = 0; k < 40; ++k) {
    std::string bytes = whole;
    bytes[random.bits() % bytes.size()] ^= static_cast<char>(1 << k % 8);
    // a bit of the unused rest of the first block counts too: the block is compared as a whole
    EXPECT_TRUE(is_refused(bytes));
  }
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(is_refused(whole.substr(0, random.bits() % whole.size())));
  EXPECT_TRUE(is_refused(whole + "x"));
  EXPECT_TRUE(is_refused(""));
}

TEST(Checkpoint, BodiesMustFitTheScene) {
  const TemporaryDirectory dir;
  World world = small_world();
  write_checkpoint(dir / "c.hdf5", world, {}, "");
  world.shapes.pop_back();
  RunState state;
  EXPECT_THROW(read_checkpoint(dir / "c.hdf5", world, state), InputError);
}

TEST(CheckpointStore, KeepsTheLastFewAndFindsTheNewestGood) {
  const TemporaryDirectory dir;
  const CheckpointStore store(dir.path() / "checkpoints", 3);
  World world = small_world();
  std::vector<std::string> complaints;
  EXPECT_TRUE(store.newest_good(complaints).empty());
  for (world.step = 8; world.step <= 12; ++world.step) store.write(world, {}, "");
  auto all = store.list();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].filename(), "step_000000000012.hdf5");
  EXPECT_EQ(store.newest_good(complaints), all[0]);
  EXPECT_TRUE(complaints.empty());

  std::filesystem::resize_file(all[0], 1000);  // half-written
  std::ofstream(all[1], std::ios::binary | std::ios::in) << "garbage";
  const auto good = store.newest_good(complaints);
  EXPECT_EQ(good, all[2]);
  ASSERT_EQ(complaints.size(), 2u);
  EXPECT_NE(complaints[0].find("bytes where"), std::string::npos) << complaints[0];

  store.set_aside_newer(good);  // or the damaged ones would push out good ones of lower numbers
  world.step = 11;
  store.write(world, {}, "");
  EXPECT_EQ(store.list().size(), 2u);
  EXPECT_EQ(store.newest_good(complaints), store.list()[0]);
  store.clear();
  EXPECT_TRUE(store.list().empty());
}

/// Files may grow to so many bytes only while this lives: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(CheckpointStore, FullDiskKeepsTheLastGood) {
  const TemporaryDirectory dir;
  const CheckpointStore store(dir.path() / "checkpoints", 3);
  World world = small_world();
  const auto good = store.write(world, {}, "");
  const auto size = std::filesystem::file_size(good);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{600}, size / 2, size - 10}) {
    ++world.step;
    const FileSizeLimit full(limit);
    try {
      store.write(world, {}, "");
      ADD_FAILURE() << "written in spite of a limit of " << limit;
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("File too large"), std::string::npos) << error.what();
    }
    std::vector<std::string> complaints;
    EXPECT_EQ(store.newest_good(complaints), good);
    EXPECT_TRUE(complaints.empty());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path() / "checkpoints"), {}), 1);
}

TEST(Snapshot, RestoresBitsAndOrder) {
  const Team team(2);
  World world = small_world();
  Snapshot snapshot;
  snapshot.take(world, team);
  const World before = small_world();
  world.bodies.reorder({6, 2, 0, 1, 3, 5, 4});
  for (Local i = 0; i < 7; ++i) {
    world.bodies.position[i] += Vec3::Ones();
    world.bodies.velocity[i].angular *= 2;
    world.bodies.orientation[i] = Quat::Identity();
  }
  world.time += 1;
  ++world.step;
  world.energy.dissipated = 0;
  world.warm_start.key.pop_back();
  world.warm_start.impulse.pop_back();
  world.warm_start.slip.pop_back();
  snapshot.restore(world, team);
  expect_same(before, world);
}

}  // namespace
}  // namespace talus
