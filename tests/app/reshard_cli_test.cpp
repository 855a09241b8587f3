// SPDX-License-Identifier: Apache-2.0
// reshard, inspect and compare as a shell sees them: exit codes, JSON, one line of error, memory.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/manifest.h"
#include "engine/model/gpt.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/folders.h"
#include "tests/support/json_page.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

class ReshardCliTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    folder_ = test::TemporaryFolder();
    QVERIFY(folder_->isValid());
    tensors_ = {{"h.0.w", ptc::DType::kF32, {8, 6}}, {"h.1.w", ptc::DType::kF32, {8, 6}}};
    QVERIFY(test::WriteSafetensors(Path("src.safetensors").toStdString(), 3, tensors_));
    Write("rules.json", R"({"rules": [{"match": "h.{layer}.w", "cut": "colwise"}]})");
  }

  void throughAllFormats() {
    const Json sharded = Ask({"reshard", Path("src.safetensors"), Path("cut"), "--mesh",
                              "tp=2,pp=2", "--rules", Path("rules.json"), "--verify"});
    QCOMPARE(sharded["tensors"].get<int>(), 2);
    QCOMPARE(sharded["read_bytes"].get<int>(), 2 * 8 * 6 * 4);
    QCOMPARE(sharded["format"].get<std::string>(), "sharded");
    QCOMPARE(QDir(Path("cut")).entryList({"shard-*"}).size(), 4);
    const Json folder = Ask({"reshard", Path("cut"), Path("hf")});
    QCOMPARE(folder["format"].get<std::string>(), "huggingface");
    const Json file = Ask({"reshard", Path("hf"), Path("back.safetensors")});
    QCOMPARE(file["format"].get<std::string>(), "safetensors");
    QCOMPARE(file["digest"].get<std::string>(), sharded["digest"].get<std::string>());
    QVERIFY(Ask({"compare", Path("src.safetensors"), Path("cut")})["equal"].get<bool>());
    const Json shown = Ask({"inspect", Path("cut"), "--pieces", "--digests"});
    QCOMPARE(shown["digest"].get<std::string>(), sharded["digest"].get<std::string>());
    QCOMPARE(shown["tensors"][1]["pieces"].size(), 2U);
    QCOMPARE(shown["tensors"][1]["pieces"][1]["box"].dump(), std::string("[[4,8],[0,6]]"));
    QVERIFY(shown["tensors"][1]["pieces"][1].contains("offset_bytes"));
  }

  void documentsAreOnThePageOfTheGuide() {
    const test::JsonPage page;
    const auto check = [&](const std::string& verb, const Json& document) {
      const QStringList found = page.differences(verb, QString::fromStdString(document.dump()));
      if (!found.isEmpty()) qWarning("%s", qPrintable(found.join(u'\n')));
      return found.isEmpty();
    };
    QVERIFY(check("reshard", Ask({"reshard", Path("src.safetensors"), Path("cut"), "--mesh", "tp=2",
                                  "--rules", Path("rules.json"), "--verify"})));
    QVERIFY(check("inspect", Ask({"inspect", Path("cut")})));
    QVERIFY(check("inspect", Ask({"inspect", Path("cut"), "--pieces", "--digests"})));
    QVERIFY(check("compare", Ask({"compare", Path("src.safetensors"), Path("cut")})));
  }

  void rulesByName() {
    std::vector<reshard::OutTensor> tensors = {
        {"model.embed_tokens.weight", ptc::DType::kBF16, {16, 8}},
        {"model.norm.weight", ptc::DType::kBF16, {8}},
        {"lm_head.weight", ptc::DType::kBF16, {16, 8}}};
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
      const auto add = [&](const char* name, ptc::Shape shape) {
        tensors.push_back({layer + name, ptc::DType::kBF16, std::move(shape)});
      };
      add("self_attn.q_proj.weight", {8, 8});
      add("self_attn.k_proj.weight", {4, 8});
      add("self_attn.v_proj.weight", {4, 8});
      add("self_attn.o_proj.weight", {8, 8});
      add("mlp.gate_proj.weight", {12, 8});
      add("mlp.up_proj.weight", {12, 8});
      add("mlp.down_proj.weight", {8, 12});
      add("input_layernorm.weight", {8});
      add("post_attention_layernorm.weight", {8});
    }
    QVERIFY(test::WriteSafetensors(Path("llama.safetensors").toStdString(), 5, tensors));
    const QStringList words = {"reshard", Path("llama.safetensors"), Path("cut"), "--mesh",
                               "tp=2,pp=2"};
    const Outcome lacking = Run(words + QStringList{"--rules", "llama"});
    QCOMPARE(lacking.code, 1);
    // All that is missing at once.
    QVERIFY2(lacking.errors.contains("give them as --values heads=NUMBER,kv_heads=NUMBER"),
             qPrintable(lacking.errors));
    const Outcome one = Run(words + QStringList{"--rules", "llama", "--values", "heads=4"});
    QVERIFY2(one.errors.contains("give it as --values kv_heads=NUMBER"), qPrintable(one.errors));
    const Json report =
        Ask(words + QStringList{"--rules", "llama", "--values", "heads=4,kv_heads=2"});
    QCOMPARE(report["tensors"].get<std::size_t>(), tensors.size());
    const Json shown = Ask(
        {"inspect", Path("cut"), "--pieces", "--tensor", "model.layers.1.self_attn.*_proj.weight"});
    QCOMPARE(shown["tensors"].size(), 4U);
    QCOMPARE(shown["tensors"][0]["pieces"][1]["box"].dump(), std::string("[[2,4],[0,8]]"));
    QCOMPARE(shown["tensors"][1]["pieces"][1]["box"].dump(), std::string("[[0,8],[4,8]]"));
    // The second stage: shards 3 and 4.
    QVERIFY(shown["tensors"][0]["pieces"][0]["file"].get<std::string>().starts_with("shard-00003"));
    QVERIFY(Ask({"compare", Path("llama.safetensors"), Path("cut")})["equal"].get<bool>());

    // A Hugging Face folder contains both.
    Write("config.json", R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 4,
                            "num_key_value_heads": 2})");
    const Json same =
        Ask({"reshard", Path("llama.safetensors"), Path("again"), "--mesh", "tp=2,pp=2"});
    QCOMPARE(same["digest"].dump(), report["digest"].dump());
    QCOMPARE(same["files"].dump(), report["files"].dump());
  }

  // tessera.json states the model, so neither rules nor numbers are asked for.
  void whatTheClusterSavedNeedsNoRules() {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    const auto state = engine::MakeCollection(settings, false);
    QVERIFY(state.has_value());
    std::vector<reshard::OutTensor> tensors;
    for (const ptc::TensorSpec& spec : (*state)->tensors())
      tensors.push_back({spec.name, spec.dtype, spec.shape});
    QVERIFY(QDir(folder_->path()).mkdir("saved"));
    QVERIFY(test::WriteSafetensors(Path("saved/a.safetensors").toStdString(), 6, tensors));
    checkpoint::Manifest manifest;
    manifest.job = "gpt-nano";
    manifest.model = "gpt-nano";
    manifest.mesh = "dp=1,tp=1,pp=1";
    manifest.digest = std::string(16, '0');
    const auto write = [&] { Write("saved/tessera.json", checkpoint::ToText(manifest).c_str()); };
    const QStringList words = {"reshard", Path("saved"), Path("cut"), "--mesh", "tp=2", "--force"};

    manifest.settings = engine::ToJson(settings);
    write();
    const Json made = Ask(words);
    QCOMPARE(made["tensors"].get<std::size_t>(), tensors.size());
    const Json shown = Ask({"inspect", Path("cut"), "--pieces", "--tensor", "h.0.attn.qkv.weight"});
    QCOMPARE(shown["tensors"][0]["pieces"].size(), 6U);  // q, k and v, each cut in two
    // A program's checkpoint does not say how its tensors are cut.
    manifest.settings = "";
    write();
    QVERIFY(Run(words).errors.contains("--mesh needs --rules"));
    // The trainer cuts gate and up separately, which no rule set does.
    settings.model.gated_mlp = true;
    manifest.settings = engine::ToJson(settings);
    write();
    QVERIFY(Run(words).errors.contains("--mesh needs --rules"));
  }

  void anotherNumberOfLayersIsSaid() {
    Write("config.json", R"({"model_type": "other", "num_hidden_layers": 1})");
    const QStringList words = {"reshard", Path("src.safetensors"), Path("cut"), "--mesh", "pp=2",
                               "--rules", Path("rules.json")};
    const Outcome more = Run(words + QStringList{"--quiet"});
    QCOMPARE(more.code, 0);
    QCOMPARE(more.errors, QStringLiteral("2 layers here, config.json says 1\n"));
    Write("config.json", R"({"model_type": "other", "num_hidden_layers": 2})");
    QCOMPARE(Run(words + QStringList{"--quiet", "--force"}).errors, QString());
  }

  void filesThatTheIndexDoesNotNameAreSaid() {
    QVERIFY(QDir(folder_->path()).mkdir("hf"));
    QVERIFY(test::WriteSafetensors(Path("hf/a.safetensors").toStdString(), 3, tensors_));
    QVERIFY(test::WriteSafetensors(Path("hf/forgotten.safetensors").toStdString(), 4,
                                   {{"mtp.w", ptc::DType::kF32, {4}}}));
    Write("hf/model.safetensors.index.json",
          R"({"weight_map": {"h.0.w": "a.safetensors", "h.1.w": "a.safetensors"}})");
    const QString line =
        "'forgotten.safetensors' is not read: model.safetensors.index.json does not name it\n";
    const QList<QStringList> commands = {{"inspect", Path("hf")},
                                         {"compare", Path("hf"), Path("src.safetensors")},
                                         {"reshard", Path("hf"), Path("out")}};
    for (const QStringList& words : commands) {
      const Outcome said = Run(words);
      QVERIFY2(said.code == 0, qPrintable(said.errors));
      QCOMPARE(said.errors, line);
      const Outcome strict = Run(words + QStringList{"--strict"});
      QVERIFY(strict.code != 0);
      QVERIFY2(strict.errors.contains(line.chopped(1)), qPrintable(strict.errors));
    }
    const Json json = Ask({"inspect", Path("hf")});
    QCOMPARE(json["unread_files"].size(), std::size_t{1});
    QCOMPARE(Run({"inspect", Path("src.safetensors"), "--strict"}).code, 0);
  }

  void storagesThatAreNotReadAreSaid() {
    namespace p = test::pickle;
    const test::TensorSpec two = {"FloatStorage", test::Floats({1.5F, 2.5F}), 2, {2}, {1}};
    WriteBytes("a.pt",
               test::TorchSave(p::Dict({{p::Text("w"), test::TensorCall(two, "0")},
                                        {p::Text("q"), p::Call(p::Global("my.code", "Quantised"),
                                                               {test::TensorCall(two, "1")})}}),
                               {two.bytes, two.bytes}));
    const QString line = "'a.pt': storages with 8 bytes are not read: data/1\n";
    QCOMPARE(Run({"inspect", Path("a.pt")}).errors, line);
    const Outcome made = Run({"reshard", Path("a.pt"), Path("out.safetensors"), "--quiet"});
    QCOMPARE(made.code, 0);
    QCOMPARE(made.errors, line + "1 entry is not a tensor and left out: q (my.code.Quantised)\n");
    const Outcome strict = Run({"reshard", Path("a.pt"), Path("no.safetensors"), "--strict"});
    QCOMPARE(strict.code, 1);
    QVERIFY2(strict.errors.contains(line.chopped(1)), qPrintable(strict.errors));
    QVERIFY(!QFile::exists(Path("no.safetensors")));
  }

  void prefixesAreNoticed() {
    std::vector<reshard::OutTensor> wrapped = tensors_;
    for (auto& tensor : wrapped) tensor.name = "module._orig_mod." + tensor.name;
    // The same bytes under other names.
    QVERIFY(test::WriteSafetensors(Path("plain.safetensors").toStdString(), 3, tensors_));
    const std::string bytes = test::Slurp(Path("plain.safetensors").toStdString());
    const std::string header =
        R"({"module._orig_mod.h.0.w":{"dtype":"F32","shape":[8,6],"data_offsets":[0,192]},)"
        R"("module._orig_mod.h.1.w":{"dtype":"F32","shape":[8,6],"data_offsets":[192,384]}})";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    WriteBytes("wrapped.safetensors", length + header + bytes.substr(bytes.size() - 384));
    const QString a = Path("wrapped.safetensors"), b = Path("plain.safetensors");
    const Outcome different = Run({"compare", a, b});
    QCOMPARE(different.code, 1);
    QVERIFY2(different.output.contains("2 of 2 names are equal without the prefix "
                                       "'module._orig_mod.' of A: --strip-prefix module._orig_mod. "
                                       "removes it\n"),
             qPrintable(different.output));
    QVERIFY(Run({"compare", b, a}).output.contains("of B: --strip-prefix module._orig_mod."));
    QCOMPARE(Run({"compare", a, b, "--strip-prefix", "module._orig_mod."}).code, 0);
    QCOMPARE(Run({"compare", a, a}).code, 0);

    // Both sides have one; and one that the other side's names have, too. The hint works as it is.
    const auto renamed = [&](const char* name, const std::string& prefix) {
      const std::string text =
          fmt::format(R"({{"{0}h.0.w":{{"dtype":"F32","shape":[8,6],"data_offsets":[0,192]}},)"
                      R"("{0}h.1.w":{{"dtype":"F32","shape":[8,6],"data_offsets":[192,384]}}}})",
                      prefix);
      std::string size(8, '\0');
      size[0] = static_cast<char>(text.size());
      WriteBytes(name, size + text + bytes.substr(bytes.size() - 384));
      return Path(name);
    };
    const auto follow = [&](const QString& first, const QString& second, const char* hint) {
      const Outcome said = Run({"compare", first, second});
      QVERIFY2(said.output.contains(hint), qPrintable(said.output));
      const QString options = QString(hint).section(": ", 1).section(" removes", 0, 0);
      QStringList words = {"compare", first, second};
      for (const QString& word : options.split(' ')) words << (word == "''" ? QString() : word);
      QCOMPARE(Run(words).code, 0);
    };
    follow(renamed("ddp.safetensors", "module."), renamed("compiled.safetensors", "_orig_mod."),
           "of A and '_orig_mod.' of B: --strip-prefix module. --strip-prefix _orig_mod. removes "
           "them\n");
    follow(renamed("twice.safetensors", "model.model."), renamed("once.safetensors", "model."),
           "of A: --strip-prefix model. --strip-prefix '' removes it\n");
    QCOMPARE(
        Run({"compare", a, b, "--strip-prefix=a.", "--strip-prefix=b.", "--strip-prefix=c."}).code,
        2);
    // A hint after one that was followed in part.
    QVERIFY(Run({"compare", a, b, "--strip-prefix", "module."})
                .output.contains(": --strip-prefix module._orig_mod. removes it\n"));

    const QStringList words = {"reshard", a,         Path("cut"),       "--mesh",
                               "tp=2",    "--rules", Path("rules.json")};
    const Outcome refused = Run(words);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.errors.contains("all names begin with 'module._orig_mod.' and match without "
                                     "it: --strip-prefix module._orig_mod. removes it"),
             qPrintable(refused.errors));
    const Outcome done = Run(words + QStringList{"--strip-prefix", "module._orig_mod.", "--quiet"});
    QVERIFY2(done.code == 0, qPrintable(done.errors));
    QCOMPARE(done.errors, QString());
    QCOMPARE(Run({"compare", Path("cut"), b}).code, 0);
    // Without rules the names are kept, and the prefix is said.
    const Outcome kept = Run({"reshard", a, Path("kept.safetensors"), "--quiet"});
    QCOMPARE(kept.code, 0);
    QVERIFY2(kept.errors.startsWith("all names begin with 'module._orig_mod.'"),
             qPrintable(kept.errors));
    QVERIFY(Run({"reshard", a, Path("no"), "--strip-prefix", "x."})
                .errors.contains("no tensor's name begins with 'x.'"));
  }

  void entriesThatAreLeftOutAreNamed() {
    test::WriteDcp(Path("dcp").toStdString(), {{}, {{"lr", "pickled"}, {"step", "pickled"}}});
    const Outcome outcome = Run({"reshard", Path("dcp"), Path("out.safetensors"), "--quiet"});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
    QCOMPARE(outcome.errors, QStringLiteral("2 entries are not tensors and left out: lr, step\n"));
  }

  void compareExitsAsCmp() {
    const QString a = Path("a.safetensors"), b = Path("b.safetensors");
    QVERIFY(test::WriteSafetensors(a.toStdString(), 1, {{"w", ptc::DType::kF32, {4}}}));
    QVERIFY(test::WriteSafetensors(b.toStdString(), 2, {{"w", ptc::DType::kF32, {4}}}));
    QCOMPARE(Run({"compare", a, a}).code, 0);
    QCOMPARE(Run({"compare", a, b}).code, 1);
    QCOMPARE(Run({"compare", a, Path("none")}).code, 2);
    const Outcome quiet = Run({"compare", "--quiet", a, b});
    QCOMPARE(quiet.code, 1);
    QCOMPARE(quiet.output + quiet.errors, QString());
  }

  // What torch.distributed.checkpoint wrote: the elements lie in archives.
  void archivesAreOpened() {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    const std::string archive =
        test::TorchSave({"FloatStorage", test::Floats(values), 6, {3, 2}, {1, 3}});
    test::WriteDcp(Path("dcp").toStdString(),
                   {{{"a", "float32", {3, 2}, {{{0, 0}, {3, 2}, archive, "__0_0.distcp"}}},
                     {"b", "float32", {3, 2}, {{{0, 0}, {3, 2}, archive, "__0_0.distcp"}}}}});
    const Json shown = Ask({"inspect", Path("dcp"), "--tensor", "a", "--pieces", "--digests"});
    QCOMPARE(shown["tensors"].size(), 1U);
    QCOMPARE(shown["tensors"][0]["pieces"][0]["archive_bytes"].get<std::size_t>(), archive.size());
    const Json made = Ask({"reshard", Path("dcp"), Path("out.safetensors"), "--verify"});
    QCOMPARE(made["read_bytes"].get<int>(), 2 * 6 * 4);
    const Json copy = Ask({"inspect", Path("out.safetensors"), "--digests"});
    QCOMPARE(copy["tensors"][0]["digest"].dump(), shown["tensors"][0]["digest"].dump());
    QVERIFY(Ask({"compare", Path("dcp"), Path("out.safetensors")})["equal"].get<bool>());
  }

  // The optimizer's state, and it alone, cut flat over dp.
  void zeroCutsTheState() {
    const std::vector<reshard::OutTensor> tensors = {{"h.0.w", ptc::DType::kBF16, {8, 6}},
                                                     {"h.0.w.exp_avg", ptc::DType::kF32, {8, 6}},
                                                     {"h.0.w.exp_avg_sq", ptc::DType::kF32, {8, 6}},
                                                     {"h.0.w.master", ptc::DType::kF32, {8, 6}}};
    QVERIFY(test::WriteSafetensors(Path("state.safetensors").toStdString(), 5, tensors));
    Write("rules.json", R"({"rules": [{"match": "h.{layer}.w", "cut": "colwise"}]})");
    const QStringList mesh = {"--mesh", "tp=2,dp=3", "--rules", Path("rules.json")};
    Ask(QStringList{"reshard", Path("state.safetensors"), Path("plain")} + mesh);
    const Json report = Ask(QStringList{"reshard", Path("state.safetensors"), Path("zero"),
                                        "--zero", "on", "--verify"} +
                            mesh);
    QCOMPARE(report["tensors"].get<int>(), 4);
    QVERIFY(Ask({"compare", Path("state.safetensors"), Path("zero")})["equal"].get<bool>());
    const auto rowsOf = [&](const char* folder) {
      std::map<std::string, std::int64_t> files;
      const Json shown = Ask({"inspect", Path(folder), "--pieces"});
      for (const Json& tensor : shown["tensors"]) {
        std::set<std::string> shards;
        for (const Json& piece : tensor["pieces"]) {
          shards.insert(piece["file"].get<std::string>().substr(0, 11));
        }
        files[tensor["name"].get<std::string>()] = static_cast<std::int64_t>(shards.size());
      }
      return files;
    };
    const auto plain = rowsOf("plain");
    const auto zero = rowsOf("zero");
    for (const reshard::OutTensor& tensor : tensors) {
      QCOMPARE(plain.at(tensor.name), std::int64_t{2});
      QCOMPARE(zero.at(tensor.name), std::int64_t{tensor.name == "h.0.w" ? 2 : 6});
    }
    QCOMPARE(Run(QStringList{"reshard", "state.safetensors", "dst", "--zero", "2"} + mesh).code, 2);
  }

  void filesBySizeAndNumber() {
    const Json two = Ask({"reshard", Path("src.safetensors"), Path("two"), "--shards", "2"});
    QCOMPARE(two["files"].get<int>(), 2);
    QCOMPARE(QDir(Path("two")).entryList({"model-*-of-00002.safetensors"}).size(), 2);
    const Json one = Ask({"reshard", Path("src.safetensors"), Path("one"), "--shards", "1"});
    QCOMPARE(one["files"].get<int>(), 1);
    const Json small =
        Ask({"reshard", Path("src.safetensors"), Path("small"), "--shard-size", "300"});
    QCOMPARE(small["files"].get<int>(), 2);
    QVERIFY(Ask({"compare", Path("two"), Path("small")})["equal"].get<bool>());
  }

  // Elements of half a byte, as a user meets them.
  void packedElements() {
    WriteBytes("f4.safetensors",
               FileOf(R"({"w":{"dtype":"F4","shape":[4,6],"data_offsets":[0,12]}})", 12));
    const Json shown = Ask({"inspect", Path("f4.safetensors"), "--pieces"});
    QCOMPARE(shown["tensors"][0]["dtype"].get<std::string>(), std::string("f4"));
    QCOMPARE(shown["tensors"][0]["shape"].dump(), std::string("[4,6]"));
    QCOMPARE(shown["tensors"][0]["bytes"].get<int>(), 12);
    Write("rules.json", R"({"rules": [{"match": "w", "cut": "colwise", "stage": "all"}]})");
    Ask({"reshard", Path("f4.safetensors"), Path("cut"), "--mesh", "tp=2", "--rules",
         Path("rules.json"), "--verify"});
    QVERIFY(Ask({"compare", Path("f4.safetensors"), Path("cut")})["equal"].get<bool>());
    Write("rules.json", R"({"rules": [{"match": "w", "cut": "rowwise", "stage": "all"}]})");
    const Outcome refused =
        Run({"reshard", "f4.safetensors", "dst", "--mesh", "tp=2", "--rules", "rules.json"});
    QCOMPARE(refused.code, 1);
    QCOMPARE(refused.errors.count(u'\n'), 1);
    QVERIFY2(refused.errors.contains("tensor 'w': the cut at 3 of dim 1 lies inside a byte"),
             qPrintable(refused.errors));
    QVERIFY(!QFile::exists(Path("dst")) && !QFile::exists(Path("dst.partial")));
  }

  void damageIsFound() {
    std::string archive =
        test::TorchSave({"FloatStorage", test::Floats({1.5F, 2.5F}), 2, {2}, {1}});
    WriteBytes("w.pt", archive);
    QVERIFY(Ask({"inspect", Path("w.pt"), "--verify"})["sums"]["checked"].get<int>() >= 2);
    archive[archive.find(test::Floats({1.5F, 2.5F}))] = 1;
    WriteBytes("w.pt", archive);
    const Outcome outcome = Run({"inspect", "w.pt", "--verify"});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.errors.count(u'\n'), 1);
    QVERIFY2(outcome.errors.contains("has CRC-32"), qPrintable(outcome.errors));
    QCOMPARE(Run({"reshard", "w.pt", "dst", "--verify"}).code, 1);
    QVERIFY(!QFile::exists(Path("dst")) && !QFile::exists(Path("dst.partial")));
  }

  // Damaged sources: one line, 1, and nothing touched, the old destination neither.
  void badSourceIsOneLine_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const std::string& bytes, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromLatin1(says);
    };
    const std::string whole =
        FileOf(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 16);
    row("truncated", whole.substr(0, whole.size() - 3), "the file has 13 bytes of it");
    row("truncated in its header", whole.substr(0, 20), "after its length");
    row("header longer than the file", std::string("\x00\x10\0\0\0\0\0\0{}", 10),
        "the header has 4096 bytes, the file 2");
    row("overlapping ranges",
        FileOf(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
               6),
        "inside the one that ends at 4");
    row("missing range",
        FileOf(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})",
               10),
        "after a hole that begins at 4");
    row("unknown dtype", FileOf(R"({"w":{"dtype":"F3","shape":[1],"data_offsets":[0,1]}})", 1),
        "dtype 'F3' is unknown");
    row("half a byte", FileOf(R"({"w":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2),
        "not a whole number of bytes");
    // torch.serialization.MAGIC_NUMBER as a pickle.
    row("torch.save from before 1.6",
        "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
        "a file of torch.save from before PyTorch 1.6");
    row("a pickle that runs something",
        test::TorchSave(
            test::pickle::Call(test::pickle::Global("os", "system"), {test::pickle::Text("true")}),
            {}),
        "an object of os.system, not a dict of tensors");
  }
  void badSourceIsOneLine() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    WriteBytes("bad", bytes.toStdString());
    WriteBytes("old", "precious");
    for (const QStringList& words :
         {QStringList{"reshard", "bad", "dst"}, QStringList{"reshard", "bad", "old", "--force"},
          QStringList{"inspect", "bad"}, QStringList{"compare", "bad", "src.safetensors"}}) {
      const Outcome outcome = Run(words);
      QCOMPARE(outcome.code, words[0] == QStringLiteral("compare") ? 2 : 1);
      QCOMPARE(outcome.errors.count(u'\n'), 1);
      QVERIFY2(outcome.errors.contains(says), qPrintable(outcome.errors));
      QCOMPARE(test::Slurp(Path("bad").toStdString()), bytes.toStdString());
      QCOMPARE(test::Slurp(Path("old").toStdString()), std::string("precious"));
      QCOMPARE(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
               QStringList({"bad", "old", "rules.json", "src.safetensors"}));
    }
  }

  void differentIsOne() {
    QVERIFY(test::WriteSafetensors(Path("other.safetensors").toStdString(), 4, tensors_));
    const Outcome outcome = Run({"compare", Path("src.safetensors"), Path("other.safetensors")});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.errors, QString());
    QVERIFY2(outcome.output.contains("different: 2 of 2 tensors"), qPrintable(outcome.output));
  }

  void badInputIsOneLine_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* says, int code, const QStringList& words) {
      QTest::newRow(says) << words << code << QString::fromLatin1(says);
    };
    row("'nowhere'", 1, {"reshard", "nowhere", "dst"});
    row("nowhere' does not exist", 1, {"inspect", "nowhere"});
    row("rules.json", 1, {"inspect", "rules.json"});
    row("--force replaces it", 1, {"reshard", "src.safetensors", "rules.json"});
    row("overlap", 1, {"reshard", "src.safetensors", "src.safetensors", "--force"});
    row("cannot be used: File name too long", 1,
        {"reshard", "src.safetensors", QString(300, QLatin1Char('a'))});
    row("`inspect` needs PATH, not an empty word", 2, {"inspect", ""});
    row("no unfinished reshard", 1, {"reshard", "src.safetensors", "dst", "--resume"});
    row("'x.*' matches no tensor", 1, {"reshard", "src.safetensors", "dst", "--dtype", "x.*=bf16"});
    row("not divisible by axis tp = 3", 1,
        {"reshard", "src.safetensors", "dst", "--mesh", "tp=3", "--rules", "rules.json"});
    row("'none.json'", 1,
        {"reshard", "src.safetensors", "dst", "--mesh", "tp=2", "--rules", "none.json"});
    row("llama", 1, {"reshard", "src.safetensors", "dst", "--mesh", "tp=2", "--rules", "lama"});
    row("'y.*' matches no tensor", 1, {"inspect", "src.safetensors", "--tensor", "y.*"});
    row("is [8,6] in the checkpoint and [8,4] in the layout", 1,
        {"reshard", "src.safetensors", "dst", "--mesh", "tp=2", "--rules", "rules.json",
         "--tensors", "tensors.json"});
    row("3 files were requested", 1, {"reshard", "src.safetensors", "dst", "--shards", "3"});
    row("choose one", 2,
        {"reshard", "src.safetensors", "dst", "--shards", "2", "--shard-size", "1G"});
    row("--shards goes with", 2,
        {"reshard", "src.safetensors", "dst.safetensors", "--shards", "2"});
    row("--zero goes with --mesh", 2, {"reshard", "src.safetensors", "dst", "--zero", "on"});
    row("needs --rules", 2, {"reshard", "src.safetensors", "dst", "--mesh", "tp=2"});
    row("--rules goes with --mesh", 2, {"reshard", "src.safetensors", "dst", "--rules", "r"});
    row("'pickle' is not one of", 2, {"reshard", "src.safetensors", "dst", "--format", "pickle"});
    row("needs --mesh", 2, {"reshard", "src.safetensors", "dst", "--format", "sharded"});
    row("16 MiB", 2, {"reshard", "src.safetensors", "dst", "--memory", "1M"});
    row("'q8'", 2, {"reshard", "src.safetensors", "dst", "--dtype", "q8"});
    row("opposites", 2, {"reshard", "src.safetensors", "dst", "--resume", "--restart"});
    row("`compare` needs B", 2, {"compare", "src.safetensors"});
  }
  void badInputIsOneLine() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, says);
    if (words.contains(QStringLiteral("tensors.json"))) {
      Write("tensors.json", R"({"layers": 2, "tensors": [
          {"name": "h.0.w", "dtype": "f32", "shape": [8, 4]},
          {"name": "h.1.w", "dtype": "f32", "shape": [8, 4]}]})");
    }
    const Outcome outcome = Run(words);
    QFile::remove(Path("tensors.json"));
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.errors.count(u'\n'), 1);
    QVERIFY2(outcome.errors.contains(says), qPrintable(outcome.errors));
    QCOMPARE(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
             QStringList({"rules.json", "src.safetensors"}));
  }

  void memoryIsBounded() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("a sanitizer's own memory counts too");
#endif
    // 512 MB of zeros that take no space: a file with a hole.
    const std::string header =
        R"({"w":{"dtype":"F32","shape":[16384,8192],"data_offsets":[0,536870912]}})";
    {
      QFile file(Path("large.safetensors"));
      QVERIFY(file.open(QIODevice::WriteOnly));
      const std::uint64_t length = header.size();
      file.write(reinterpret_cast<const char*>(&length), sizeof(length));
      file.write(header.c_str());
      QVERIFY(file.resize(static_cast<qint64>(8 + header.size()) + 536870912));
    }
    Write("rules.json", R"({"rules": [{"match": "w", "cut": "rowwise", "stage": "all"}]})");
    const std::string program = TESSERA_BIN_DIR "/tesseractl";
    const std::string source = Path("large.safetensors").toStdString();
    const std::string target = Path("large").toStdString();
    const std::string rules = Path("rules.json").toStdString();
    const pid_t child = fork();
    if (child == 0) {
      execl(program.c_str(), program.c_str(), "reshard", source.c_str(), target.c_str(), "--mesh",
            "tp=2", "--rules", rules.c_str(), "--memory", "64M", "--dtype", "bf16", "--json",
            nullptr);
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    QCOMPARE(wait4(child, &status, 0, &usage), child);
    QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    QVERIFY2(usage.ru_maxrss <= (64 + 64) * 1024, QByteArray::number(qint64(usage.ru_maxrss)));
  }

 private:
  struct Outcome {
    int code = -1;
    QString output, errors;
  };

  QString Path(const char* name) const { return folder_->filePath(QString::fromLatin1(name)); }
  void Write(const char* name, const char* text) const {
    QFile file(Path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0) qFatal("cannot write");
  }

  void WriteBytes(const char* name, const std::string& bytes) const {
    test::WriteFile(Path(name).toStdString(), bytes);
  }
  /// A safetensors file with so many bytes of tensors.
  static std::string FileOf(const std::string& header, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < 8; ++i) out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
    return out + header + std::string(bytes, '\1');
  }

  Outcome Run(const QStringList& words) const {
    QProcess process;
    process.setWorkingDirectory(folder_->path());
    process.start(QStringLiteral(TESSERA_BIN_DIR "/tesseractl"), words);
    if (!process.waitForFinished(20'000) || process.exitStatus() != QProcess::NormalExit) return {};
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
  }
  Json Ask(const QStringList& words) const {
    const Outcome outcome = Run(words + QStringList{"--json"});
    if (outcome.code != 0) qWarning() << outcome.errors;
    return Json::parse(outcome.output.toStdString(), nullptr, false);
  }

  std::unique_ptr<QTemporaryDir> folder_;
  std::vector<reshard::OutTensor> tensors_;
};

}  // namespace
}  // namespace tessera

TESSERA_TEST(tessera::ReshardCliTest)
#include "reshard_cli_test.moc"
