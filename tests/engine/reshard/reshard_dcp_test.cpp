// SPDX-License-Identifier: Apache-2.0 Resharded folders of torch.distributed.checkpoint: the
// location of their elements is known only when an archive is read.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "engine/reshard/compare.h"
#include "engine/reshard/reshard.h"
#include "tests/engine/checkpoint/sample_tensors.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;
using checkpoint::Format;

struct TorchName {
  const char* dtype;
  const char* storage;
};
TorchName NameOf(ptc::DType dtype) {
  switch (dtype) {
    case ptc::DType::kBool:
      return {"bool", "BoolStorage"};
    case ptc::DType::kU8:
      return {"uint8", "ByteStorage"};
    case ptc::DType::kI16:
      return {"int16", "ShortStorage"};
    case ptc::DType::kBF16:
      return {"bfloat16", "BFloat16Storage"};
    case ptc::DType::kI64:
      return {"int64", "LongStorage"};
    case ptc::DType::kF64:
      return {"float64", "DoubleStorage"};
    default:
      return {"float32", "FloatStorage"};
  }
}

/// An archive of `elements`, row-major of the shape, with the dims in any order and a storage that
/// has more.
std::string AnyArchive(std::mt19937_64& rng, ptc::DType dtype, const ptc::Shape& shape,
                       const std::vector<std::byte>& elements) {
  const auto size = static_cast<std::size_t>(ptc::SizeBytes(dtype));
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, rng);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t count = 1;
  for (const std::size_t d : order) {
    strides[d] = count;
    count *= shape[d];
  }
  const auto before = static_cast<std::int64_t>(rng() % 5);
  const std::int64_t all = before + count + static_cast<std::int64_t>(rng() % 5);
  std::string bytes(static_cast<std::size_t>(all) * size, '\x55');
  for (std::size_t i = 0; i * size < elements.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t at = before;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      at += rest % shape[d] * strides[d];
    }
    std::memcpy(bytes.data() + static_cast<std::size_t>(at) * size, elements.data() + i * size,
                size);
  }
  return test::TorchSave({NameOf(dtype).storage, bytes, all, shape, strides, before});
}

/// The tensors, cut at random, in three files.
test::DcpSpec AnyDcp(std::mt19937_64& rng, std::uint64_t seed,
                     const std::vector<OutTensor>& tensors) {
  test::DcpSpec spec;
  for (const OutTensor& tensor : tensors) {
    const test::SampleTensor sample{tensor.name, tensor.dtype, tensor.shape,
                                    test::BytesOfTensor(seed, tensor)};
    test::DcpTensorSpec out{tensor.name, NameOf(tensor.dtype).dtype, tensor.shape, {}};
    const auto add = [&](std::vector<std::int64_t> begin, const ptc::Shape& size,
                         const std::vector<std::byte>& elements) {
      out.chunks.push_back({std::move(begin), size, AnyArchive(rng, tensor.dtype, size, elements),
                            "__" + std::to_string(rng() % 3) + "_0.distcp"});
    };
    const auto whole = ptc::Box::Whole(tensor.shape);
    if (!whole) add(std::vector<std::int64_t>(tensor.shape.size(), 0), tensor.shape, {});
    const auto boxes =
        whole ? test::AnyTiling(rng, *whole, static_cast<int>(rng() % 8)) : std::vector<ptc::Box>();
    for (const ptc::Box& box : boxes) {
      std::vector<std::int64_t> begin;
      for (int d = 0; d < box.rank(); ++d) begin.push_back(box[d].begin);
      add(std::move(begin), box.shape(), test::Extract(sample, box));
    }
    spec.tensors.push_back(std::move(out));
  }
  spec.objects = {{"step", "pickled"}};
  return spec;
}

}  // namespace

class ReshardDcpTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    folder_ = test::TemporaryFolder();
    QVERIFY(folder_->isValid());
  }

  void toEveryFormatAndBack() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 8; ++round) {
      const auto tensors = test::AnyTensors(rng, 10);
      fs::remove_all(Path("dcp"));
      test::WriteDcp(Path("dcp"), AnyDcp(rng, kSeed, tensors));
      const auto source = Checkpoint::Open(Path("dcp"));
      VERIFY_OK(source);
      const auto digests = DigestsOf(**source, {});
      VERIFY_OK(digests);
      std::string at = Path("dcp");
      std::optional<std::uint64_t> digest;
      for (const Format format :
           {Format::kShardedSafetensors, Format::kSafetensors, Format::kHuggingFace}) {
        Options options{.format = format, .replace = true, .verify = true, .tile_bytes = 512};
        if (format == Format::kShardedSafetensors) options.layout = test::AnyLayout(rng, tensors);
        // Each from DCP, and each from what was made before.
        for (const std::string& from : {Path("dcp"), at}) {
          const auto opened = Checkpoint::Open(from);
          VERIFY_OK(opened);
          const std::string to = Path("to" + std::to_string(static_cast<int>(format)));
          if (to == from) continue;
          const auto report = Reshard(**opened, to, options);
          VERIFY_OK(report);
          if (!digest) digest = report->digest;
          QCOMPARE(report->digest, *digest);
          const auto made = Checkpoint::Open(to);
          VERIFY_OK(made);
          QCOMPARE(test::WhatDiffers(**made, kSeed, tensors), std::string());
          for (std::size_t t = 0; t < digests->size(); ++t) {
            QCOMPARE((*made)->tensors()[t].digest, std::optional((*digests)[t]));
          }
          const auto comparison = Compare(**source, **made, {});
          VERIFY_OK(comparison);
          QVERIFY(comparison->differences.empty());
          at = to;
        }
      }
    }
  }

  void stoppedAndResumed() {
    std::mt19937_64 rng(test::Seed() + 1);
    const std::vector<OutTensor> tensors = {{"a", ptc::DType::kF32, {60, 40}},
                                            {"b", ptc::DType::kBF16, {31, 17}}};
    test::DcpSpec spec = AnyDcp(rng, kSeed, tensors);
    for (test::ChunkSpec& chunk : spec.tensors[0].chunks) chunk.file = "__0_0.distcp";
    for (test::ChunkSpec& chunk : spec.tensors[1].chunks) chunk.file = "__1_0.distcp";
    test::WriteDcp(Path("dcp"), spec);
    const auto source = Checkpoint::Open(Path("dcp"));
    VERIFY_OK(source);
    // The file of the second tensor is empty for a while.
    const fs::path file = Path("dcp/__1_0.distcp");
    const std::string whole = test::ReadWholeFile(file);
    const auto time = fs::last_write_time(file);
    Options options{.threads = 1, .tile_bytes = 512, .commit_bytes = 1};
    options.watch = [&](const Progress& progress) {
      if (progress.bytes_done == 0) fs::resize_file(file, 0);
      return true;
    };
    QVERIFY(!Reshard(**source, Path("out"), options));
    test::WriteFile(file, whole);
    fs::last_write_time(file, time);
    options.watch = {};
    options.must_resume = true;
    const auto again = Checkpoint::Open(Path("dcp"));
    VERIFY_OK(again);
    const auto report = Reshard(**again, Path("out"), options);
    VERIFY_OK(report);
    QCOMPARE(report->bytes_resumed, 60 * 40 * 4);
    const auto made = Checkpoint::Open(Path("out"));
    VERIFY_OK(made);
    QCOMPARE(test::WhatDiffers(**made, kSeed, tensors), std::string());
  }

  // Part of a checkpoint knows as well how its archives are read.
  void chosenTensorsAreRead() {
    std::mt19937_64 rng(test::Seed() + 3);
    const std::vector<OutTensor> tensors = {{"a", ptc::DType::kF32, {9, 8}},
                                            {"b", ptc::DType::kI64, {3, 5}}};
    test::WriteDcp(Path("dcp"), AnyDcp(rng, kSeed, tensors));
    const auto source = Checkpoint::Open(Path("dcp"));
    VERIFY_OK(source);
    const auto part =
        (*source)->Choose([](const checkpoint::StoredTensor& t) { return t.name == "b"; });
    QCOMPARE(test::WhatDiffers(*part, kSeed, {tensors[1]}), std::string());
    QCOMPARE(part->opaque(), (*source)->opaque());
  }

  void damagedArchiveIsNamed() {
    std::mt19937_64 rng(test::Seed() + 2);
    test::DcpSpec spec = AnyDcp(rng, kSeed, {{"w", ptc::DType::kF32, {6, 5}}});
    for (test::ChunkSpec& chunk : spec.tensors[0].chunks) chunk.file = "__0_0.distcp";
    test::WriteDcp(Path("dcp"), spec);
    const std::string file = Path("dcp/__0_0.distcp");
    test::WriteFile(file, std::string(fs::file_size(file), 'x'));
    const auto source = Checkpoint::Open(Path("dcp"));
    VERIFY_OK(source);
    const auto report = Reshard(**source, Path("out"), {});
    VERIFY_ERROR(report, ErrorCode::kInvalidArgument, file + ": byte ");
    VERIFY_ERROR(report, ErrorCode::kInvalidArgument, ": not a zip archive");
    QVERIFY(!fs::exists(Path("out")));
    QVERIFY(!fs::exists(Path("out.partial")));
  }

 private:
  static constexpr std::uint64_t kSeed = 17;

  std::string Path(const std::string& name) const {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::ReshardDcpTest)
#include "reshard_dcp_test.moc"
