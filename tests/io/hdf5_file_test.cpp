// Hdf5File: what is written is read back, and what does not fit is refused with the file's and object's name.
#include "talus/io/hdf5_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "io/temporary.hpp"
#include "talus/base/error.hpp"

namespace talus {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" does not say \"" << part << '"';
}

TEST(Hdf5File, ReadsBackWhatWasWritten) {
  const TemporaryDirectory dir;
  const std::string path = dir / "file.hdf5";
  {
    Hdf5File file = Hdf5File::create(path, 512);
    file.write<double>("a/b/values", std::vector<double>{1, 2.5, 3, 4, 5, 6}, {2, 3});
    file.write<std::int32_t>("a/counts", std::vector<std::int32_t>{7, -8});
    file.write<std::int64_t>("empty", std::vector<std::int64_t>{});
    file.write_scalar<std::uint64_t>("big", ~std::uint64_t{0});
    file.write_text("text", "two\nlines");
    file.set_attribute<double>("a", "time", 0.25);
    file.set_text_attribute("/", "version", "1.0");
    file.close();
  }
  const Hdf5File file = Hdf5File::open(path);
  EXPECT_EQ(file.read<double>("a/b/values"), (std::vector<double>{1, 2.5, 3, 4, 5, 6}));
  EXPECT_EQ(file.shape("a/b/values"), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(file.read<std::int64_t>("a/counts"), (std::vector<std::int64_t>{7, -8}));  // widened
  EXPECT_EQ(file.read<double>("a/counts"), (std::vector<double>{7, -8}));
  EXPECT_TRUE(file.read<std::int64_t>("empty").empty());
  EXPECT_EQ(file.read_scalar<std::uint64_t>("big"), ~std::uint64_t{0});
  EXPECT_EQ(file.read_text("text"), "two\nlines");
  EXPECT_EQ(file.attribute<double>("a", "time"), 0.25);
  EXPECT_EQ(file.text_attribute("/", "version"), "1.0");
  EXPECT_EQ(file.children("a"), (std::vector<std::string>{"b", "counts"}));
  EXPECT_TRUE(file.exists("a/b"));
  EXPECT_FALSE(file.exists("a/c/d"));
  EXPECT_TRUE(file.is_group("a"));
  EXPECT_FALSE(file.is_group("text"));
  EXPECT_EQ(file.type_name("a/counts"), "int32");
}

TEST(Hdf5File, RefusesWhatDoesNotFit) {
  const TemporaryDirectory dir;
  const std::string path = dir / "file.hdf5";
  {
    Hdf5File file = Hdf5File::create(path);
    file.write<double>("reals", std::vector<double>{1, 2});
    file.write_scalar<std::int64_t>("large", std::int64_t{1} << 40);
    file.write_text("text", "words");
    file.close();
  }
  const Hdf5File file = Hdf5File::open(path);
  EXPECT_TRUE(says(message_of([&] { file.read<double>("nothing"); }), "file.hdf5: nothing: no such dataset"));
  EXPECT_TRUE(says(message_of([&] { file.read<int>("reals"); }), "holds float64 where integers are wanted"));
  EXPECT_TRUE(says(message_of([&] { file.read<int>("large"); }), "do not fit"));
  EXPECT_TRUE(says(message_of([&] { file.read<double>("text"); }), "holds text"));
  EXPECT_TRUE(
      says(message_of([&] { file.read_scalar<double>("reals"); }), "has 2 values where 1 are wanted"));
  EXPECT_TRUE(says(message_of([&] { file.read_text("reals"); }), "holds no text"));
  EXPECT_TRUE(says(message_of([&] { file.attribute<double>("/", "time"); }), "/@time: is missing"));
  EXPECT_TRUE(says(message_of([&] { Hdf5File::open(dir / "absent"); }), "no such file"));
  EXPECT_TRUE(says(message_of([&] { Hdf5File::open(dir / ""); }), "directory"));
}

TEST(Hdf5File, WritingFailsAsARunDoes) {
  EXPECT_THROW(Hdf5File::create("/nonexistent/file.hdf5"), RunError);
}

// Every prefix of a file and every file with some bytes overwritten either reads or is refused; none crashes.
TEST(Hdf5File, SurvivesDamage) {
  const TemporaryDirectory dir;
  const std::string path = dir / "whole.hdf5", damaged = dir / "damaged.hdf5";
  {
    Hdf5File file = Hdf5File::create(path);
    file.write<double>("a/values", std::vector<double>(200, 1.5));
    file.write<std::int32_t>("b", std::vector<std::int32_t>(50, 3));
    file.write_text("text", "some words");
    file.close();
  }
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto try_to_read = [&](const std::string& bytes) {
    std::ofstream(damaged, std::ios::binary) << bytes;
    try {
      const Hdf5File file = Hdf5File::open(damaged);
      for (const char* name : {"a/values", "b"})
        if (file.is_dataset(name)) file.read<double>(name);
      file.read_text("text");
      return true;
    } catch (const InputError& e) {
      EXPECT_TRUE(says(e.what(), "damaged.hdf5"));
      return false;
    }
  };
  EXPECT_TRUE(try_to_read(whole));
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += 97)
    refused += !try_to_read(whole.substr(0, length));
  EXPECT_GT(refused, 50);
  for (std::size_t at = 0; at + 4 < whole.size(); at += 61) {
    std::string bytes = whole;
    for (int k = 0; k < 4; ++k) bytes[at + k] = static_cast<char>(~bytes[at + k]);
    try_to_read(bytes);
  }
}

}  // namespace
}  // namespace talus
