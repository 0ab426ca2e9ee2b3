// The schema: what follows from it agrees (docs, JSON schema), and its small tools do what they say.
#include "talus/io/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "io/scene_text.hpp"
#include "talus/io/scene_schema.hpp"

namespace talus {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// With TALUS_UPDATE_DOCS set, the committed file is written anew instead of compared.
bool updating() {
  return std::getenv("TALUS_UPDATE_DOCS") != nullptr;
}

TEST(Schema, ReferenceInTheDocsIsTheSchemas) {
  const std::string path = TALUS_SOURCE_DIR "/docs/scene.md";
  const std::string begin = "<!-- reference: generated from the schema by TALUS_UPDATE_DOCS=1 test_io -->\n";
  std::string doc = file_text(path);
  const std::size_t at = doc.find(begin);
  ASSERT_NE(at, std::string::npos) << "docs/scene.md lacks the line before the reference";
  const std::string wanted = doc.substr(0, at) + begin + "\n" + scene_reference_markdown();
  if (updating())
    std::ofstream(path) << wanted;
  else
    EXPECT_EQ(doc, wanted) << "run with TALUS_UPDATE_DOCS=1";
}

TEST(Schema, JsonSchemaIsTheSchemas) {
  const std::string path = TALUS_SOURCE_DIR "/docs/scene.schema.json";
  if (updating())
    std::ofstream(path) << scene_json_schema();
  else
    EXPECT_EQ(file_text(path), scene_json_schema()) << "run with TALUS_UPDATE_DOCS=1";
}

void visit_keys(const TableSchema& schema, const std::string& path,
                const std::function<void(const Key&, const std::string&)>& f) {
  for (const Key& k : schema.keys()) {
    f(k, path + k.name);
    if (k.child) visit_keys(*k.child, path + k.name + ".", f);
  }
}

TEST(Schema, EveryKeyIsDocumentedAndInTheJsonSchema) {
  const std::string json = scene_json_schema(), markdown = scene_reference_markdown();
  int keys = 0;
  visit_keys(scene_schema(), "", [&](const Key& k, const std::string& path) {
    ++keys;
    EXPECT_NE(json.find("\"" + k.name + "\": {"), std::string::npos) << path;
    if (k.form != Key::Form::value) return;
    EXPECT_NE(markdown.find("| `" + k.name + "`"), std::string::npos) << path;
    EXPECT_TRUE(!k.doc.empty() || !k.choices.empty() || k.name == "radius") << path << " has no description";
  });
  EXPECT_GT(keys, 80);
}

TEST(Schema, WordsOfEnumsReadBack) {
  visit_keys(scene_schema(), "", [&](const Key& k, const std::string& path) {
    if (k.choices.empty() || k.form != Key::Form::value || k.type.starts_with("list")) return;
    for (const std::string& word : k.choices) EXPECT_EQ(nearest_word(word, k.choices), word) << path;
  });
}

TEST(NearestWord, FindsTyposAndNothingElse) {
  const std::vector<std::string> words = {"simulation", "solver", "materials", "bodies", "max_iterations"};
  EXPECT_EQ(nearest_word("simulatoin", words), "simulation");
  EXPECT_EQ(nearest_word("sovler", words), "solver");
  EXPECT_EQ(nearest_word("body", words), "");
  EXPECT_EQ(nearest_word("material", words), "materials");
  EXPECT_EQ(nearest_word("max_iter", words), "max_iterations");
  EXPECT_EQ(nearest_word("xyzzy", words), "");
  EXPECT_EQ(nearest_word("", words), "");
}

TEST(Value, TomlRoundTrip) {
  const std::string text = R"(a = 1
b = [1.5, 2.0, -0.1]
c = "quote \" backslash \\ newline \n tab \t bell \u0007"
d = true

[e.f]
g = 1e-300

[[h]]
i = { j = [], k = {  } }

[[h]]
i = 3
)";
  const Value v = parse_toml(text, "t.toml");
  EXPECT_EQ(parse_toml(to_toml(v), "u.toml"), v);
}

TEST(Value, NumbersKeepTheirBits) {
  for (const double x : {0.1, 1.0 / 3, 1e22, 5e-324, -0.0, 1.7976931348623157e308, 12345678.9, 3.0}) {
    const Value v{Value::Data(x)};
    const Value back = parse_toml("x = " + to_toml_inline(v), "t");
    ASSERT_NE(back.find("x")->as<double>(), nullptr) << to_toml_inline(v);
    EXPECT_EQ(std::signbit(*back.find("x")->as<double>()), std::signbit(x));
    EXPECT_EQ(*back.find("x")->as<double>(), x);
  }
}

TEST(Override, ReachesTablesIndicesAndNames) {
  Value root = parse_toml("[a]\nb = 1\n[[l]]\nname = \"first\"\n[[l]]\nname = \"second\"\n", "t.toml");
  apply_override(root, "a.b=2.5");
  apply_override(root, "a.c.d = [1, 2]");
  apply_override(root, "l.1.x=true");
  apply_override(root, "l.first.y=word");
  EXPECT_EQ(to_toml(root),
            "\n[a]\nb = 2.5\n\n[a.c]\nd = [1, 2]\n\n[[l]]\nname = \"first\"\ny = \"word\"\n\n[[l]]\nname = "
            "\"second\"\nx = true\n");
}

TEST(Override, ErrorsNameTheKeyPath) {
  auto why = [](const std::string& o) {
    Value root = parse_toml("a = 1\n[[l]]\nname = \"first\"\n", "t.toml");
    try {
      apply_override(root, o);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_TRUE(has(why("novalue"), {"--set novalue", "key.path=value"}));
  EXPECT_TRUE(has(why("=1"), {"key.path=value"}));
  EXPECT_TRUE(has(why("a..b=1"), {"--set a..b", "empty"}));
  EXPECT_TRUE(has(why("a.b=1"), {"--set a.b", "'a' is a whole number"}));
  EXPECT_TRUE(has(why("l.7.x=1"), {"--set l.7.x", "no element 7", "has 1"}));
  EXPECT_TRUE(has(why("l.frist.x=1"), {"--set l.frist.x", "did you mean 'first'"}));
  EXPECT_TRUE(has(why("a=[1"), {"--set a", "no TOML value"}));
  EXPECT_TRUE(has(why("a=1\nb=2"), {"--set a"}));
}

}  // namespace
}  // namespace talus
