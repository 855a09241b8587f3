// SPDX-License-Identifier: Apache-2.0
// The config.json of published models, and of files that are none.
#include "engine/checkpoint/model_config.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/catalogue/catalogue.h"
#include "tests/support/test_main.h"

using namespace tessera;
using checkpoint::Checkpoint;
using checkpoint::ModelConfig;
using checkpoint::ParseModelConfig;
using Values = std::map<std::string, std::int64_t>;

namespace {

std::shared_ptr<const Checkpoint> EmptyAt(const std::filesystem::path& path) {
  return *Checkpoint::Make({.path = path.string(), .files = {}, .tensors = {}});
}

}  // namespace

class ModelConfigTest : public QObject {
  Q_OBJECT
 private slots:
  // Members as the published files have them, in their order, with others around them.
  void publishedFiles() {
    const auto llama = ParseModelConfig(
        R"({"architectures":["LlamaForCausalLM"],"hidden_act":"silu","hidden_size":4096,
            "intermediate_size":14336,"model_type":"llama","num_attention_heads":32,
            "num_hidden_layers":32,"num_key_value_heads":8,"rms_norm_eps":1e-05,
            "rope_scaling":null,"tie_word_embeddings":false,"vocab_size":128256})",
        "c");
    QVERIFY(llama.has_value());
    QCOMPARE(llama->type, std::string("llama"));
    QCOMPARE(llama->rules, std::string("llama"));
    QVERIFY((llama->values == Values{{"width", 4096},
                                     {"heads", 32},
                                     {"kv_heads", 8},
                                     {"head_dim", 128},
                                     {"ffn", 14336},
                                     {"layers", 32},
                                     {"vocab", 128256}}));

    const auto gpt2 = ParseModelConfig(
        R"({"activation_function":"gelu_new","model_type":"gpt2","n_ctx":1024,"n_embd":768,
            "n_head":12,"n_inner":null,"n_layer":12,"task_specific_params":
            {"text-generation":{"do_sample":true,"max_length":50}},"vocab_size":50257})",
        "c");
    QVERIFY(gpt2.has_value());
    QCOMPARE(gpt2->rules, std::string("gpt2"));
    QVERIFY((gpt2->values == Values{{"width", 768},
                                    {"heads", 12},
                                    {"kv_heads", 12},
                                    {"head_dim", 64},
                                    {"layers", 12},
                                    {"vocab", 50257}}));

    const auto mixtral = ParseModelConfig(
        R"({"model_type":"mixtral","hidden_size":4096,"num_attention_heads":32,
            "num_key_value_heads":8,"num_local_experts":8,"head_dim":null})",
        "c");
    QVERIFY(mixtral.has_value());
    QCOMPARE(mixtral->rules, std::string("mixtral"));
    QVERIFY(
        (mixtral->values ==
         Values{
             {"width", 4096}, {"heads", 32}, {"kv_heads", 8}, {"head_dim", 128}, {"experts", 8}}));
  }

  void aTypeWithoutRulesKeepsItsSizes() {
    const auto config = ParseModelConfig(R"({"model_type":"mamba","hidden_size":768})", "c");
    QVERIFY(config.has_value());
    QCOMPARE(config->type, std::string("mamba"));
    QVERIFY(config->rules.empty());
    QVERIFY((config->values == Values{{"width", 768}}));
    const auto nothing = ParseModelConfig(" {} ", "c");
    QVERIFY(nothing.has_value());
    QVERIFY(nothing->type.empty() && nothing->rules.empty() && nothing->values.empty());
  }

  // Sizes and rules come together: what a rule set reads is what its family's config.json states.
  void everyNamedRuleSetIsInTheCatalogue() {
    const auto sets = engine::RuleSetNames();
    for (const char* type :
         {"bert", "deepseek_v2", "deepseek_v3", "gemma", "gpt2", "gpt_neox", "llama", "mistral",
          "mixtral", "olmo2", "phi3", "qwen2", "qwen3", "bitnet", "gemma2", "vit"}) {
      QVERIFY2(std::ranges::count(sets, checkpoint::RuleSetOf(type)) == 1, type);
    }
    QVERIFY(checkpoint::RuleSetOf("").empty());
    QVERIFY(checkpoint::RuleSetOf("llama4").empty());
  }

  void refuses_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* json, const char* message) {
      QTest::newRow(name) << QString::fromLatin1(json) << QString::fromLatin1(message);
    };
    row("nothing", "", "'f' at byte 0: an object expected");
    row("a list", "[]", "'f' at byte 0: an object expected");
    row("cut short", R"({"n_head": 12)", "'f' at byte 13: ',' or '}' expected");
    row("more behind it", "{} x", "'f' at byte 3: nothing expected after the object");
    row("a key twice", R"({"a": 1, "a": 1})", "'f' at byte 9: key 'a' appears twice");
    row("zero", R"({"n_head": 0})",
        "'f' at byte 11: 'n_head' is not an integer from 1 to 2147483647");
    row("below zero", R"({"n_head": -3})",
        "'f' at byte 11: 'n_head' is not an integer from 1 to 2147483647");
    row("beyond 2^31", R"({"hidden_size": 2147483648})",
        "'f' at byte 16: 'hidden_size' is not an integer from 1 to 2147483647");
    row("beyond 2^63", R"({"hidden_size": 99999999999999999999})",
        "'f' at byte 16: 'hidden_size' is not an integer from 1 to 2147483647");
    row("a fraction", R"({"hidden_size": 1.5})",
        "'f' at byte 16: 'hidden_size' is not an integer from 1 to 2147483647");
    row("a text", R"({"hidden_size": "64"})",
        "'f' at byte 16: 'hidden_size' is not an integer from 1 to 2147483647");
    row("a type that is no text", R"({"model_type": 7})", "'f' at byte 15: a string expected");
    row("contradiction", R"({"hidden_size": 64, "n_embd": 32})",
        "'f' at byte 20: 'n_embd' is 32, another key of the file has 64 for the same size");
  }
  void refuses() {
    QFETCH(QString, json);
    QFETCH(QString, message);
    const auto config = ParseModelConfig(json.toStdString(), "f");
    QVERIFY(!config);
    QCOMPARE(config.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(config.error().message), message);
  }

  void theFileLiesBesideTheTensors() {
    const QTemporaryDir dir;
    const std::filesystem::path folder = dir.path().toStdString();
    const auto none = checkpoint::ReadModelConfig(*EmptyAt(folder));
    QVERIFY(none.has_value() && !none->has_value());
    std::ofstream(folder / "config.json") << R"({"model_type":"qwen2","num_attention_heads":14})";
    for (const auto& path : {folder, folder / "model.safetensors"}) {
      const auto config = checkpoint::ReadModelConfig(*EmptyAt(path));
      QVERIFY(config.has_value() && config->has_value());
      QCOMPARE((*config)->rules, std::string("llama"));
      QCOMPARE((*config)->values.at("kv_heads"), std::int64_t{14});
    }
    std::ofstream(folder / "config.json") << "{\"hidden_size\": []}";
    const auto damaged = checkpoint::ReadModelConfig(*EmptyAt(folder));
    QVERIFY(!damaged);
    QCOMPARE(damaged.error().message,
             "'" + (folder / "config.json").string() +
                 "' at byte 16: 'hidden_size' is not an integer from 1 to 2147483647");
    std::filesystem::resize_file(folder / "config.json", checkpoint::kMaxConfigBytes + 1);
    const auto large = checkpoint::ReadModelConfig(*EmptyAt(folder));
    QVERIFY(!large);
    QVERIFY(large.error().message.ends_with(
        "has 16777217 bytes, the limit is 16777216; if it is no configuration of a model, move it "
        "away"));
  }
};

TESSERA_TEST_APPLESS(ModelConfigTest)
#include "model_config_test.moc"
