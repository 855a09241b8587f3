// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cstring>
#include <random>

#include "engine/vfs/content.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine::vfs;
using test::FakeSource;

namespace {

std::string Joined(const Fragments& fragments) {
  std::string all;
  for (const auto& part : fragments) {
    all.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return all;
}

Result<std::string> ReadRange(const Content& content, std::int64_t offset, std::int64_t size) {
  std::vector<std::byte> room(static_cast<std::size_t>(size));
  TESSERA_TRY(const Fragments fragments, content.Read(offset, room));
  return Joined(fragments);
}

/// A file of a job and its content.
struct File {
  std::optional<int> rank;
  StateFile part = StateFile::kModel;
  std::shared_ptr<const FilePlan> plan;
  ContentPtr content;
};

Result<File> OpenFile(FakeSource& source, const JobInfo& job, std::optional<int> rank, StateFile part) {
  TESSERA_TRY(FilePlan plan, FilePlan::Make(job, rank, part));
  TESSERA_TRY(StateViewPtr view, source.Pin(job.name));
  File file{rank, part, std::make_shared<const FilePlan>(std::move(plan)), nullptr};
  TESSERA_TRY(file.content, StateContent::Make(file.plan, view));
  return file;
}

Result<File> AnyFile(std::mt19937_64& rng, FakeSource& source, const JobInfo& job) {
  std::optional<int> rank;
  if (rng() % 3 != 0) {
    rank = static_cast<int>(rng() % static_cast<std::uint64_t>(job.layout.mesh().num_ranks()));
  }
  return OpenFile(source, job, rank, rng() % 2 == 0 ? StateFile::kModel : StateFile::kOptimizer);
}

/// Three rows of 4 cut flat: half of 12 elements is a row and two elements.
ptc::TensorSpec ThreeRows() {
  ptc::TensorSpec w{.name = "w", .dtype = ptc::DType::kF32, .shape = {3, 4}};
  w.rule.dims.resize(2);
  w.rule.flat = {ptc::Axis::kDp};
  return w;
}

JobInfo JobOf(std::vector<ptc::TensorSpec> specs, const char* mesh) {
  for (auto& spec : specs) {
    if (spec.rule.dims.empty()) spec.rule.dims.resize(spec.shape.size());
  }
  return test::AnyJobInfo("job", *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh),
                                                    *ptc::Collection::Make(std::move(specs), 1)));
}

/// q|k|v of 8, 4 and 4 along one dimension of a matrix, cut by tp=2, with a small tensor beside it.
JobInfo FusedJob(int dim) {
  ptc::TensorSpec qkv{.name = "qkv", .dtype = ptc::DType::kF32, .shape = {16, 16}};
  qkv.segments = ptc::Segments{dim, {{8}, {4}, {4}}};
  qkv.rule.dims.resize(2);
  qkv.rule.dims[static_cast<std::size_t>(dim)].axes = {ptc::Axis::kTp};
  return JobOf({qkv, {.name = "w", .dtype = ptc::DType::kF32, .shape = {2}}}, "tp=2 on 1x2");
}

}  // namespace

class VfsContentTest : public QObject {
  Q_OBJECT
 private slots:
  // Every byte of the file, against values that only depend on tensor, index and step.
  void filesOfAnyLayoutAreRight_data() {
    QTest::addColumn<bool>("direct");
    QTest::newRow("views that are read") << false;
    QTest::newRow("views that show their memory") << true;
  }
  void filesOfAnyLayoutAreRight() {
    QFETCH(bool, direct);
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 60; ++i) {
      FakeSource source;
      source.SetDirect(direct);
      const JobInfo job = test::AnyJobInfo("job", test::AnyLayout(rng));
      source.Put(job);
      const auto file = AnyFile(rng, source, job);
      VERIFY_OK(file);
      const auto bytes = ReadRange(*file->content, 0, file->content->size() + 100);
      VERIFY_OK(bytes);
      QCOMPARE(std::ssize(*bytes), file->content->size());
      const std::string wrong = test::Judge(*bytes, job, file->rank, file->part == StateFile::kModel);
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
  }

  // Also ranges that begin or end inside an element.
  void anyRangeIsThatOfTheWhole() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 30; ++i) {
      FakeSource source;
      source.SetDirect(rng() % 2 == 0);
      const JobInfo job = test::AnyJobInfo("job", test::AnyLayout(rng));
      source.Put(job);
      const auto file = AnyFile(rng, source, job);
      VERIFY_OK(file);
      const auto whole = ReadRange(*file->content, 0, file->content->size());
      VERIFY_OK(whole);
      for (int k = 0; k < 60; ++k) {
        const auto begin = rng() % (whole->size() + 20);
        const auto size = rng() % (k % 2 == 0 ? 40 : whole->size() + 20);
        const auto part = ReadRange(*file->content, static_cast<std::int64_t>(begin),
                                    static_cast<std::int64_t>(size));
        VERIFY_OK(part);
        QCOMPARE(*part, begin < whole->size() ? whole->substr(begin, size) : std::string());
      }
    }
  }

  void aReadTouchesOnlyWhatItCovers() {
    std::mt19937_64 rng(test::Seed() + 2);
    for (int i = 0; i < 100; ++i) {
      FakeSource source;
      const JobInfo job = test::AnyJobInfo("job", test::AnyLayout(rng));
      source.Put(job);
      const auto file = AnyFile(rng, source, job);
      VERIFY_OK(file);
      const auto begin =
          static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(file->content->size()));
      const auto size = static_cast<std::int64_t>(rng() % 400);
      VERIFY_OK(ReadRange(*file->content, begin, size));
      std::int64_t covered = 0;  // by the range, in whole elements
      for (const auto& entry : file->plan->entries()) {
        const std::int64_t from = std::max(begin, entry.begin),
                           to = std::min(begin + size, entry.end);
        if (from >= to) continue;
        const std::int64_t e = entry.element_bytes;
        covered += ((to - entry.begin + e - 1) / e - (from - entry.begin) / e) * e;
      }
      std::int64_t touched = 0;
      for (const auto& read : source.TakeReads()) {
        const auto& spec = job.layout.collection().tensors()[static_cast<std::size_t>(read.tensor)];
        touched += read.box.num_elements() * ptc::SizeBytes(spec.dtype);
      }
      QCOMPARE(touched, covered);
    }
  }

  void oneRowIsOneBox() {
    FakeSource source;
    const JobInfo job =
        JobOf({{.name = "w", .dtype = ptc::DType::kF32, .shape = {1000, 64}}}, "dp=1 on 1x1");
    source.Put(job);
    const auto file = OpenFile(source, job, std::nullopt, StateFile::kModel);
    VERIFY_OK(file);
    VERIFY_OK(ReadRange(*file->content, file->plan->data_begin() + 7 * 64 * 4, 64 * 4));
    const auto reads = source.TakeReads();
    QCOMPARE(reads.size(), 1U);
    QCOMPARE(ToString(reads[0].box), std::string("[7:8,0:64]"));
  }

  // A fused tensor has its own name and the shape that a rank computes with.
  void segmentsThatFormALocalTensorAreOneEntry_data() {
    QTest::addColumn<int>("dim");
    QTest::newRow("along the rows") << 0;
    QTest::newRow("along the columns") << 1;
  }
  void segmentsThatFormALocalTensorAreOneEntry() {
    QFETCH(int, dim);
    const JobInfo job = FusedJob(dim);
    const auto plan = FilePlan::Make(job, 1, StateFile::kModel);
    VERIFY_OK(plan);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan->entries().size(); ++i) names.push_back(plan->NameOf(i));
    QCOMPARE(names, (std::vector<std::string>{"qkv", "w"}));
    const LocalTensor& qkv = plan->entries()[0].held;
    QCOMPARE(qkv.shape(), dim == 0 ? (ptc::Shape{8, 16}) : (ptc::Shape{16, 8}));
    QCOMPARE(qkv.boxes().size(), 3U);
    const auto header = plan->Header(job);
    VERIFY_OK(header);
    const auto parsed =
        checkpoint::ParseHeader(*header, plan->size(), "test");  // what any reader sees
    VERIFY_OK(parsed);
    QCOMPARE(parsed->tensors[0].shape, qkv.shape());
    QCOMPARE(parsed->metadata.at("tessera.boxes"),
             std::string(dim == 0 ? R"({"qkv":["[4:8,0:16]","[10:12,0:16]","[14:16,0:16]"],)"
                                  : R"({"qkv":["[0:16,4:8]","[0:16,10:12]","[0:16,14:16]"],)") +
                 R"("w":["[0:2]"]})");
    // One offset could not place the three boxes.
    QVERIFY(!parsed->metadata.contains("DCP_SHARDING_INFO"));
    QVERIFY(!parsed->metadata.contains("tessera.tensor_of"));
  }

  // Every byte, and every range of bytes, also those that begin inside a row or an element.
  void fusedTensorsAreReadRight_data() {
    QTest::addColumn<int>("dim");
    QTest::addColumn<bool>("direct");
    for (const int dim : {0, 1}) {
      for (const bool direct : {false, true}) {
        QTest::newRow(qPrintable(QStringLiteral("dim %1, %2").arg(dim).arg(
            direct ? "shown" : "read")))
            << dim << direct;
      }
    }
  }
  void fusedTensorsAreReadRight() {
    QFETCH(int, dim);
    QFETCH(bool, direct);
    FakeSource source;
    source.SetDirect(direct);
    const JobInfo job = FusedJob(dim);
    source.Put(job);
    for (const int rank : {0, 1}) {
      const auto file = OpenFile(source, job, rank, StateFile::kModel);
      VERIFY_OK(file);
      const auto whole = ReadRange(*file->content, 0, file->content->size());
      VERIFY_OK(whole);
      const std::string wrong = test::Judge(*whole, job, rank, true);
      QVERIFY2(wrong.empty(), wrong.c_str());
      const std::int64_t data = file->plan->data_begin();
      for (std::int64_t begin = data; begin < file->content->size(); begin += 3) {
        for (const std::int64_t size : {1, 7, 33, 129}) {
          const auto part = ReadRange(*file->content, begin, size);
          VERIFY_OK(part);
          QCOMPARE(*part, whole->substr(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(size)));
        }
      }
    }
  }

  // Rows of all three segments are one read of each, however many rows there are.
  void fusedRowsAreFewReads() {
    FakeSource source;
    const JobInfo job = FusedJob(1);
    source.Put(job);
    const auto file = OpenFile(source, job, 0, StateFile::kModel);
    VERIFY_OK(file);
    const std::int64_t row = 8 * 4;
    VERIFY_OK(ReadRange(*file->content, file->plan->data_begin() + row, 14 * row));
    QCOMPARE(source.TakeReads().size(), 3U);
  }

  void boxesThatFormNoTensorHaveNamesOfTheirOwn() {
    ptc::TensorSpec moment{.name = "m", .dtype = ptc::DType::kF32, .shape = {4, 4}};
    moment.rule.dims.resize(2);
    moment.rule.flat = {ptc::Axis::kDp};  // 16 elements over 3 ranks: parts of rows
    const JobInfo job = JobOf({moment}, "dp=3 on 1x3");
    const auto plan = FilePlan::Make(job, 1, StateFile::kModel);
    VERIFY_OK(plan);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan->entries().size(); ++i) names.push_back(plan->NameOf(i));
    QCOMPARE(names, (std::vector<std::string>{"m[1:2,2:4]", "m[2:3,0:4]"}));
    QVERIFY(plan->Header(job)->find("tessera.tensor_of") != std::string::npos);
    const auto whole = FilePlan::Make(job, std::nullopt, StateFile::kModel);
    VERIFY_OK(whole);
    QCOMPARE(whole->entries().size(), 1U);
  }

  void aNameTwiceIsAnError() {
    const JobInfo job =
        JobOf({ThreeRows(), {.name = "w[0:1,0:4]", .dtype = ptc::DType::kF32, .shape = {2}}},
              "dp=2 on 1x2");
    VERIFY_ERROR(FilePlan::Make(job, 0, StateFile::kModel), ErrorCode::kInvalidArgument,
                 "'w[0:1,0:4]' appears twice");
    VERIFY_OK(FilePlan::Make(job, std::nullopt, StateFile::kModel));
  }

  void aFileHasOneSizeAtAllSteps() {
    std::mt19937_64 rng(test::Seed() + 3);
    JobInfo job = test::AnyJobInfo("job", test::AnyLayout(rng));
    const auto plan = FilePlan::Make(job, std::nullopt, StateFile::kModel);
    VERIFY_OK(plan);
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{999}, INT64_MAX}) {
      job.step = job.epoch = step;
      const auto header = plan->Header(job);
      VERIFY_OK(header);
      QCOMPARE(std::ssize(*header), plan->data_begin());
    }
  }

  void aMegabyteOfTinyTensorsIsFewFragments() {
    std::vector<ptc::TensorSpec> specs;
    for (int i = 0; i < 3000; ++i) {
      const std::int64_t size = i % 3 == 0 ? 4096 : 1 + i % 7;
      specs.push_back({.name = "t" + std::to_string(i), .dtype = ptc::DType::kU8, .shape = {size}});
    }
    FakeSource source;
    source.SetDirect(true);
    const JobInfo job = JobOf(std::move(specs), "dp=1 on 1x1");
    source.Put(job);
    const auto file = OpenFile(source, job, std::nullopt, StateFile::kModel);
    VERIFY_OK(file);
    std::vector<std::byte> room(1 << 20);
    const auto fragments = file->content->Read(file->plan->data_begin(), room);
    VERIFY_OK(fragments);
    QVERIFY(fragments->size() > 10);
    QVERIFY(fragments->size() <= kMaxFragments);
  }

  void errorsOfTheViewComeThrough() {
    FakeSource source;
    const JobInfo job =
        JobOf({{.name = "w", .dtype = ptc::DType::kF32, .shape = {8}}}, "dp=1 on 1x1");
    source.Put(job);
    const auto file = OpenFile(source, job, std::nullopt, StateFile::kModel);
    VERIFY_OK(file);
    source.FailReads(DataLoss("node n1 is lost"));
    VERIFY_OK(ReadRange(*file->content, 0, file->plan->data_begin()));
    VERIFY_ERROR(ReadRange(*file->content, 0, file->content->size()), ErrorCode::kDataLoss,
                 "n1 is lost");
    VERIFY_ERROR(ReadRange(*file->content, file->plan->data_begin() + 1, 2), ErrorCode::kDataLoss,
                 "n1 is lost");
  }
};

TESSERA_TEST_APPLESS(VfsContentTest)
#include "vfs_content_test.moc"
