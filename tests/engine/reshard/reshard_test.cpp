// SPDX-License-Identifier: Apache-2.0 Resharded checkpoints: the same elements for all formats and
// cuts, and no incomplete output.
#include "engine/reshard/reshard.h"

#include <sys/stat.h>

#include <QTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"
#include "engine/reshard/metadata.h"
#include "engine/reshard/reshard_plan.h"
#include "ptc/digest.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/engine/reshard/reshard_fixture.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"
#include "tests/support/work.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;
using checkpoint::Format;

class ReshardTest : public test::ReshardFixture {
  Q_OBJECT

 private slots:
  void init() {
    NewFolder();
    tensors_ = {{"bias", ptc::DType::kF32, {7}},
                {"embed", ptc::DType::kF32, {64, 33}},
                {"step", ptc::DType::kI64, {}}};
    QVERIFY(test::WriteSafetensors(Path("src.safetensors"), kSeed, tensors_));
  }

  // Texts about tensors are passed on in blocks, and each is printed in one pass.
  void textsAreStreamed() {
    std::vector<OutTensor> tensors;
    std::vector<std::uint64_t> digests;
    Arrangement arrangement;
    arrangement.files.push_back({"model.safetensors", {}});
    for (int i = 0; i < 30'000; ++i) {
      tensors.push_back({"layer.\"" + std::to_string(i), ptc::DType::kBF16, {3, i}});
      digests.push_back(static_cast<std::uint64_t>(i));
      arrangement.pieces.push_back({tensors.back().name, ptc::DType::kBF16, {3, i}});
      arrangement.locations.push_back({0, 0});
    }
    std::string text;
    std::size_t largest = 0;
    int blocks = 0;
    const TextSink sink = [&](std::string_view block) {
      text += block;
      largest = std::max(largest, block.size());
      ++blocks;
      return OkStatus();
    };
    QVERIFY(PrintManifest(tensors, digests, 7, sink));
    QVERIFY(blocks > 1 && largest < (std::size_t{2} << 20));
    const auto manifest = nlohmann::json::parse(text);
    QCOMPARE(manifest["tessera_manifest"].get<int>(), 1);
    QCOMPARE(manifest["digest"].get<std::string>(), ptc::Hex16(7));
    QCOMPARE(manifest["tensors"].size(), tensors.size());
    const auto& last = manifest["tensors"]["layer.\"29999"];
    QCOMPARE(last["shape"].dump(), std::string("[3,29999]"));
    QCOMPARE(last["dtype"].get<std::string>(), std::string("bf16"));
    QCOMPARE(last["digest"].get<std::string>(), ptc::Hex16(29'999));
    text.clear();
    QVERIFY(PrintIndex(arrangement, sink));
    const auto index = nlohmann::json::parse(text);
    QCOMPARE(index["weight_map"].size(), tensors.size());
    QCOMPARE(index["weight_map"]["layer.\"0"].get<std::string>(), std::string("model.safetensors"));
  }

  // A search for each name in what is printed so far would cost 64 times as much for 8 times as
  // many.
  void printingIsLinear_data() {
    QTest::addColumn<QString>("what");
    for (const char* what : {"manifest", "index", "metadata", "header"})
      QTest::newRow(what) << what;
  }
  void printingIsLinear() {
    QFETCH(QString, what);
    const auto source = Checkpoint::Make({Format::kTorchDcp, Path("src"), {}, {}});
    QVERIFY(source.has_value());
    const auto units = [&](int count) {
      std::vector<OutTensor> tensors;
      const std::vector<std::uint64_t> digests(static_cast<std::size_t>(count), 1);
      Arrangement arrangement;
      arrangement.files.push_back({"model.safetensors", {}});
      OutFile& file = arrangement.files[0];
      for (int i = 0; i < count; ++i) {
        const std::string name = "model.layers.mlp.experts.down_proj." + std::to_string(i);
        tensors.push_back({name, ptc::DType::kU8, {i % 7, 3}});
        file.pieces.push_back(i);
        file.header.tensors.push_back({name, ptc::DType::kU8, {i % 7, 3}});
        arrangement.pieces.push_back({name, ptc::DType::kU8, {i % 7, 3}});
        arrangement.locations.push_back({0, 0});
      }
      std::size_t bytes = 0;
      const TextSink sink = [&](std::string_view block) {
        bytes += block.size();
        return OkStatus();
      };
      const double cost = test::UnitsOf(3, [&](int) {
        if (what == "manifest") {
          static_cast<void>(PrintManifest(tensors, digests, 7, sink));
        } else if (what == "index") {
          static_cast<void>(PrintIndex(arrangement, sink));
        } else if (what == "metadata") {
          AddMetadata(**source, Format::kShardedSafetensors, arrangement);
          bytes += WithDigests(file, digests).metadata.size();
        } else {
          static_cast<void>(checkpoint::AssignOffsets(file.header.tensors));
          const auto text = checkpoint::PrintHeader(file.header);
          bytes += text ? text->size() : 0;
        }
      });
      return bytes > 0 ? cost : -1;
    };
    const double few = units(5'000), many = units(40'000);
    QVERIFY2(few > 0 && many < 24 * few, qPrintable(QString("%1 and %2").arg(few).arg(many)));
  }

  // A name of 60 bytes times 1.1 million is the difference between a header that fits and one that
  // does not.
  void aHeaderHasEachNameOnce() {
    const auto report = Run("once.safetensors", {});
    QVERIFY2(report, report ? "" : report.error().ToString().c_str());
    const std::string file = test::Slurp(Path("once.safetensors"));
    const std::string header = file.substr(8, file.find('\0', 8) - 8);
    QVERIFY(header.find("tessera.digest_list") != std::string::npos);
    for (const char* name : {"embed", "step"}) {
      const std::size_t first = header.find(name);
      QVERIFY(first != std::string::npos);
      QVERIFY(header.find(name, first + 1) == std::string::npos);
    }
  }

  void aHeaderThatIsTooLargeNamesFileAndRemedy() {
    checkpoint::Contents contents{Format::kTorchDcp, Path("src"), {}, {}};
    for (int i = 0; i < 11; ++i) {
      contents.tensors.push_back(
          {std::string(10'000'000, 'n') + std::to_string(10 + i), ptc::DType::kU8, {0}, {}});
    }
    const auto source = Checkpoint::Make(std::move(contents));
    QVERIFY(source.has_value());
    const auto plan = MakeReshardPlan(**source, Path("one.safetensors"), {});
    QVERIFY(!plan);
    const QString said = QString::fromStdString(plan.error().message);
    QVERIFY2(said.startsWith("file 'one.safetensors' of 11 tensors: the header would have 1"),
             qPrintable(said));
    QVERIFY2(said.endsWith("use --format huggingface --shards N"), qPrintable(said));
  }

  void everyWayAndBack() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 25; ++round) {
      const auto tensors = test::AnyTensors(rng, 12);
      QVERIFY(test::WriteSafetensors(Path("a.safetensors"), kSeed, tensors));
      Options options;
      options.tile_bytes = 64 << (rng() % 10);
      options.commit_bytes = 4096;
      options.files.most_bytes = 1 + static_cast<std::int64_t>(rng() % 20'000);
      options.threads = 1 + static_cast<int>(rng() % 3);
      options.verify = rng() % 2 == 0;
      options.replace = true;
      std::string at = Path("a.safetensors");
      std::uint64_t digest = 0;
      for (int step = 0; step < 4; ++step) {
        const int way = step == 3 ? 0 : static_cast<int>(rng() % 4);
        options.format = way == 0   ? Format::kSafetensors
                         : way == 1 ? Format::kHuggingFace
                                    : Format::kShardedSafetensors;
        options.layout.reset();
        if (way > 1) options.layout = test::AnyLayout(rng, tensors);
        const std::string to = Path("to" + std::to_string(step));
        const auto source = Checkpoint::Open(at);
        VERIFY_OK(source);
        const auto report = Reshard(**source, to, options);
        VERIFY_OK(report);
        const auto made = Checkpoint::Open(to);
        VERIFY_OK(made);
        QCOMPARE(made.value()->format(), options.format);
        QCOMPARE(test::WhatDiffers(**made, kSeed, tensors), std::string());
        if (step > 0) QCOMPARE(report->digest, digest);
        digest = report->digest;
        QVERIFY(!fs::exists(to + ".partial"));
        at = to;
      }
    }
  }

  void digestsAreThoseOfTheElements() {
    Options options;
    options.format = Format::kHuggingFace;
    options.files.most_bytes = 100;
    VERIFY_OK(Run(Path("hf"), options));
    const auto made = Checkpoint::Open(Path("hf"));
    VERIFY_OK(made);
    const auto manifest = nlohmann::json::parse(test::Slurp(Path("hf/tessera-manifest.json")));
    for (const OutTensor& tensor : tensors_) {
      const auto bytes = test::BytesOfTensor(kSeed, tensor);
      const auto whole = *ptc::Box::Whole(tensor.shape);
      const std::uint64_t digest =
          ptc::DigestBox(tensor.dtype, tensor.shape, whole, bytes.data(), whole);
      const auto& stored =
          (*made)->tensors()[static_cast<std::size_t>(*(*made)->Find(tensor.name))];
      QCOMPARE(stored.digest, std::optional(digest));
      QCOMPARE(manifest["tensors"][tensor.name]["digest"].get<std::string>(), ptc::Hex16(digest));
    }
    const auto index = nlohmann::json::parse(test::Slurp(Path("hf/model.safetensors.index.json")));
    QCOMPARE(index["weight_map"].size(), tensors_.size());
    QCOMPARE(index["metadata"]["total_size"].get<std::int64_t>(), 7 * 4 + 64 * 33 * 4 + 8);
    QCOMPARE((*made)->metadata().at("author"), std::string("a test"));
  }

  void replicasAreWrittenOnce() {
    Options options;
    options.format = Format::kShardedSafetensors;
    options.layout =
        *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=4,tp=2,pp=1 on 1x8"),
                           *ptc::Collection::Make({{"bias", ptc::DType::kF32, {7}},
                                                   {.name = "embed",
                                                    .dtype = ptc::DType::kF32,
                                                    .shape = {64, 33},
                                                    .rule = {.dims = {{{ptc::Axis::kTp}}, {}}}},
                                                   {"step", ptc::DType::kI64, {}}},
                                                  0));
    VERIFY_OK(Run(Path("sharded"), options));
    std::int64_t bytes = 0;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(Path("sharded"))) {
      if (entry.path().extension() != ".safetensors") continue;
      ++files;
      bytes += static_cast<std::int64_t>(entry.file_size());
    }
    QVERIFY(files <= 4);  // two halves, the bias, the step
    QVERIFY(bytes < 7 * 4 + 64 * 33 * 4 + 8 + files * 1024);
  }

  void dtypesChangeByName() {
    Options options;
    options.format = Format::kSafetensors;
    options.dtypes = {{"", ptc::DType::kBF16}, {"bias", ptc::DType::kF64}};
    options.tile_bytes = 512;
    options.verify = true;
    const auto report = Run(Path("b.safetensors"), options);
    VERIFY_OK(report);
    QCOMPARE(report->num_converted, 2);
    const auto made = Checkpoint::Open(Path("b.safetensors"));
    VERIFY_OK(made);
    QCOMPARE((*made)->tensors()[0].dtype, ptc::DType::kF64);
    QCOMPARE((*made)->tensors()[1].dtype, ptc::DType::kBF16);
    QCOMPARE((*made)->tensors()[2].dtype, ptc::DType::kI64);
    options.dtypes = {{"", ptc::DType::kF32}};
    VERIFY_OK(Reshard(**made, Path("c.safetensors"), options));
    const auto back = Checkpoint::Open(Path("c.safetensors"));
    VERIFY_OK(back);
    QCOMPARE(test::WhatDiffers(**back, kSeed, tensors_), std::string());
  }

  void dtypesThatDoNotGo_data() {
    QTest::addColumn<QString>("match");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* match, ptc::DType dtype, const char* says) {
      QTest::newRow(says) << match << static_cast<int>(dtype) << says;
    };
    row("step", ptc::DType::kF32, "tensor 'step' is i64 and cannot become f32");
    row("", ptc::DType::kI64, "'i64' is not a floating-point dtype");
    row("nothing.*", ptc::DType::kF32, "'nothing.*' matches no tensor");
  }
  void dtypesThatDoNotGo() {
    QFETCH(QString, match);
    QFETCH(int, dtype);
    QFETCH(QString, says);
    Options options;
    options.dtypes = {{match.toStdString(), static_cast<ptc::DType>(dtype)}};
    VERIFY_ERROR(Run(Path("b.safetensors"), options), ErrorCode::kInvalidArgument,
                 says.toStdString());
    VerifyNothingBut({"src.safetensors"});
  }

  void destinationThatExists() {
    std::ofstream(Path("dst.safetensors")) << "precious";
    Options options;
    VERIFY_ERROR(Run(Path("dst.safetensors"), options), ErrorCode::kAlreadyExists, "--force");
    QCOMPARE(test::Slurp(Path("dst.safetensors")), std::string("precious"));
    // Also a file that appears there during the run.
    options.watch = [&](const Progress&) {
      std::ofstream(Path("late.safetensors")) << "late";
      return true;
    };
    VERIFY_ERROR(Run(Path("late.safetensors"), options), ErrorCode::kAlreadyExists, "--force");
    QCOMPARE(test::Slurp(Path("late.safetensors")), std::string("late"));
    options.watch = {};
    options.replace = true;
    VERIFY_OK(Run(Path("dst.safetensors"), options));
    const auto made = Checkpoint::Open(Path("dst.safetensors"));
    VERIFY_OK(made);
    QCOMPARE(test::WhatDiffers(**made, kSeed, tensors_), std::string());
    // A folder takes the place of the file, and goes with all that is in it.
    options.format = Format::kHuggingFace;
    VERIFY_OK(Run(Path("dst.safetensors"), options));
    VERIFY_OK(Run(Path("dst.safetensors"), options));
    const auto folder = Checkpoint::Open(Path("dst.safetensors"));
    VERIFY_OK(folder);
    QCOMPARE(test::WhatDiffers(**folder, kSeed, tensors_), std::string());
    QVERIFY(!fs::exists(Path("dst.safetensors.partial")));
  }

  void oldDestinationStaysUntilTheEnd() {
    std::ofstream(Path("dst.safetensors")) << "precious";
    Options options;
    options.replace = true;
    int calls = 0;
    int touched = 0;
    std::int64_t bytes_done = 0;
    options.watch = [&](const Progress& progress) {
      ++calls;
      if (test::Slurp(Path("dst.safetensors")) != "precious") ++touched;
      bytes_done = progress.bytes_done;
      return true;
    };
    VERIFY_OK(Run(Path("dst.safetensors"), options));
    QVERIFY(calls >= 2);  // before the first tile and after the last
    QVERIFY(bytes_done > 0);
    QCOMPARE(touched, 0);
    const auto made = Checkpoint::Open(Path("dst.safetensors"));
    VERIFY_OK(made);
    QCOMPARE(test::WhatDiffers(**made, kSeed, tensors_), std::string());
  }

  void sourceAndDestinationAreApart() {
    const Options options{.replace = true};
    VERIFY_ERROR(Run(Path("src.safetensors"), options), ErrorCode::kInvalidArgument, "overlap");
    VERIFY_OK(Run(Path("hf"), {.format = Format::kHuggingFace}));
    const auto folder = Checkpoint::Open(Path("hf"));
    VERIFY_OK(folder);
    VERIFY_ERROR(Reshard(**folder, Path("hf/in.safetensors"), options), ErrorCode::kInvalidArgument,
                 "overlap");
    fs::create_directory_symlink(Path("hf"), Path("link"));
    VERIFY_ERROR(Reshard(**folder, Path("link/in.safetensors"), options),
                 ErrorCode::kInvalidArgument, "overlap");
    VERIFY_ERROR(Run(Path("nowhere/dst"), {}), ErrorCode::kNotFound, "nowhere");
  }

  void damagedSourceIsNamed() {
    VERIFY_OK(Run(Path("a.safetensors"), {}));
    {
      std::fstream file(Path("a.safetensors"), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-5, std::ios::end);
      file.put('\x55');
    }
    const auto source = Checkpoint::Open(Path("a.safetensors"));
    VERIFY_OK(source);
    VERIFY_ERROR(Reshard(**source, Path("b.safetensors"), {}), ErrorCode::kDataLoss,
                 "the checkpoint states");
    VerifyNothingBut({"a.safetensors", "src.safetensors"});
  }

  void truncatedWhileOpen() {
    const auto source = Checkpoint::Open(Path("src.safetensors"));
    VERIFY_OK(source);
    fs::resize_file(Path("src.safetensors"), 4000);
    VERIFY_ERROR(Reshard(**source, Path("b.safetensors"), {}), ErrorCode::kUnavailable,
                 "src.safetensors");
    QVERIFY(!fs::exists(Path("b.safetensors")));
  }

  void memoryHasALeast() {
    VERIFY_ERROR(Run(Path("b"), {.memory_bytes = 16'000'000}), ErrorCode::kInvalidArgument,
                 "16 MiB");
    VERIFY_ERROR(Run(Path("b"), {.memory_bytes = 16 << 20, .threads = 8}),
                 ErrorCode::kInvalidArgument, "32 MiB that 8 threads need");
    VERIFY_OK(Run(Path("b"), {.memory_bytes = 16 << 20, .threads = 4}));
  }

  void noTensorsAtAll() {
    QVERIFY(test::WriteSafetensors(Path("none.safetensors"), kSeed, {}));
    const auto source = Checkpoint::Open(Path("none.safetensors"));
    VERIFY_OK(source);
    for (const Format format : {Format::kSafetensors, Format::kHuggingFace}) {
      const auto report = Reshard(**source, Path("out"), {.format = format, .replace = true});
      VERIFY_OK(report);
      const auto made = Checkpoint::Open(Path("out"));
      VERIFY_OK(made);
      QVERIFY((*made)->tensors().empty());
    }
  }

 private:
  static constexpr std::uint64_t kSeed = 41;

  std::vector<OutTensor> tensors_;
};

}  // namespace
}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::ReshardTest)
#include "reshard_test.moc"
