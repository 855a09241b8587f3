// SPDX-License-Identifier: Apache-2.0
// Files that are written into the tree, until a transaction takes their state.
#include <QTest>
#include <algorithm>
#include <random>
#include <thread>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "engine/model/gpt.h"
#include "engine/vfs/handed_set.h"
#include "engine/vfs/tree.h"
#include "ptc/digest.h"
#include "tests/engine/vfs/fake_samples.h"
#include "tests/engine/vfs/fake_sink.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/engine/vfs/tree_walk.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine::vfs;
using std::chrono::milliseconds;
using test::FakeSink;
using test::FakeSource;

namespace {

const Time kStart = Time() + std::chrono::hours(1);

/// A data set of which only the number of samples is read.
class Counted final : public engine::Dataset {
 public:
  explicit Counted(std::int64_t count) : count_(count) {}
  engine::DataFormat format() const override { return engine::DataFormat::kTfRecord; }
  std::int64_t sequence() const override { return 1; }
  std::int64_t num_samples() const override { return count_; }
  std::uint64_t fingerprint() const override { return 0; }
  Status ReadTokens(std::int64_t, std::span<std::int32_t>) const override {
    return Internal("nobody reads tokens");
  }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t) const override {
    return Internal("nobody reads records");
  }
  std::int64_t RecordBytes(std::int64_t) const override { return 1; }
  std::string Describe(std::int64_t) const override { return "counted"; }

 private:
  const std::int64_t count_;
};

engine::DataMix DataOfLength(std::int64_t samples) {
  return *engine::DataMix::Make({{std::make_shared<const Counted>(samples), 0}});
}

/// One rank whose optimizer file ends with job.cursor.
ptc::Layout CursorLayout() {
  ptc::TensorSpec cursor{.name = "job.cursor", .dtype = ptc::DType::kI64, .shape = {3}};
  cursor.rule.dims.resize(1);
  cursor.role = ptc::TensorRole::kScalar;
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh("tp=1 on 1x1"),
                            *ptc::Collection::Make({cursor}, 1));
}

/// Names a file of a rank.
struct FileOf {
  int rank = 0;
  bool model = true;
  std::string name() const { return model ? "model.safetensors" : "optimizer.safetensors"; }
};

struct World {
  std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
  std::shared_ptr<FakeSink> sink = std::make_shared<FakeSink>();
  Time now = kStart;
  Tree tree;

  explicit World(ptc::Layout layout, std::int64_t memory = 1 << 30,
                 const std::shared_ptr<SampleSource>& samples = nullptr)
      : tree(source, kStart,
             {.incoming = {.memory_bytes = memory, .patience = std::chrono::minutes(10)},
              .samples = samples},
             sink) {
    source->Put(test::AnyJobInfo("a", std::move(layout)));
  }

  void Later(milliseconds by = milliseconds(200)) { now += by; }
  JobInfo Job() { return source->Jobs()->front(); }
  static std::string PathOf(int rank) { return "jobs/a/ranks/" + std::to_string(rank); }
  /// 0 if there is no such folder.
  Ino Folder(int rank) {
    const auto found = test::FindPath(tree, PathOf(rank), now);
    return found ? found->ino : 0;
  }
  /// The bytes of a file that the tree shows now.
  std::string Read(const FileOf& file) {
    return *test::ReadPath(tree, PathOf(file.rank) + "/" + file.name(), now);
  }
  /// Creates, writes in pieces, closes.
  Status Write(const FileOf& file, std::string_view bytes, std::size_t piece = 1 << 16) {
    TESSERA_TRY(const auto created, tree.Create(Folder(file.rank), file.name() + ".new", now));
    Status status = OkStatus();
    for (std::size_t at = 0; status && at < bytes.size(); at += piece) {
      status = tree.Write(created.handle, static_cast<std::int64_t>(at),
                          std::as_bytes(std::span(bytes.substr(at, piece))));
    }
    if (status) status = tree.Flush(created.handle, now);
    tree.Release(created.handle);
    tree.Forget(created.attributes.ino, 1);
    return status;
  }
  bool IsThere(const FileOf& file) {
    return tree.Lookup(Folder(file.rank), file.name() + ".new", now).has_value();
  }
  std::string List(int rank) { return test::NamesIn(tree, PathOf(rank), now); }
  /// All files at the present step.
  std::vector<std::pair<FileOf, std::string>> Files() {
    std::vector<std::pair<FileOf, std::string>> files;
    for (int rank = 0; rank < Job().layout.mesh().num_ranks(); ++rank) {
      for (const bool model : {true, false}) {
        files.emplace_back(FileOf{rank, model}, Read({rank, model}));
      }
    }
    return files;
  }
};

/// The file with its header changed.
std::string Edited(const std::string& bytes,
                   const std::function<void(checkpoint::Header&)>& change) {
  auto header = *checkpoint::ParseHeader(bytes, std::ssize(bytes), "test");
  const auto data_begin = static_cast<std::size_t>(header.data_begin);
  change(header);
  return *checkpoint::PrintHeader(header) + bytes.substr(data_begin);
}

}  // namespace

class VfsHandInTest : public QObject {
  Q_OBJECT
 private slots:
  /// Files in any order are taken as soon as no element is missing, and every element is right.
  void whatCoversAllIsTaken() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 60; ++i) {
      World world(test::AnyLayout(rng));
      const auto& layout = world.Job().layout;
      auto files = world.Files();
      std::shuffle(files.begin(), files.end(), rng);
      world.source->Step("a", 7);  // the job trains on
      world.Later();
      std::vector<std::vector<bool>> covered(layout.collection().tensors().size());
      bool taken = false;
      for (const auto& [file, bytes] : files) {
        VERIFY_OK(world.Write(file, bytes, 1 + rng() % 5000));
        bool complete = true;
        for (std::size_t t = 0; t < covered.size(); ++t) {
          const auto held = test::HeldElements(layout, file.rank, static_cast<int>(t));
          covered[t].resize(held.size());
          const auto& spec = layout.collection().tensors()[t];
          const bool in_file = (StateFileOf(spec.role) == StateFile::kModel) == file.model;
          for (std::size_t e = 0; e < held.size(); ++e) {
            if (held[e] && in_file) covered[t][e] = true;
            complete = complete && covered[t][e];
          }
        }
        QCOMPARE(world.sink->taken().size(), complete ? 1U : 0U);
        QCOMPARE(world.IsThere(file), !complete);
        if (complete) {
          taken = true;
          break;
        }
      }
      QVERIFY(taken);
      QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
      QCOMPARE(world.sink->taken().front()->step, 10);
      QVERIFY(world.sink->refusals().empty());
      QCOMPARE(world.tree.usage().handles, 0U);
    }
  }

  void aFileIsListedUntilItsStateIsTaken() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const auto files = world.Files();
    QCOMPARE(world.List(0), std::string("model.safetensors optimizer.safetensors"));
    VERIFY_OK(world.Write(files[0].first, files[0].second));
    QCOMPARE(world.List(0),
             std::string("model.safetensors optimizer.safetensors model.safetensors.new"));
    const auto found = world.tree.Lookup(world.Folder(0), "model.safetensors.new", world.now);
    QCOMPARE(found->size, std::ssize(files[0].second));
    QVERIFY(found->writable && !found->folder);
    for (std::size_t i = 1; i < files.size(); ++i) {
      VERIFY_OK(world.Write(files[i].first, files[i].second));
    }
    QCOMPARE(world.sink->taken().size(), 1U);
    QCOMPARE(world.List(0), std::string("model.safetensors optimizer.safetensors"));
    QCOMPARE(world.List(1), std::string("model.safetensors optimizer.safetensors"));
  }

  void whatIsWrongIsNamedAndLeavesNothing() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const std::string good = world.Read({0, true});
    const auto refused = [&](const std::string& bytes, const char* part,
                             ErrorCode code = ErrorCode::kInvalidArgument) {
      VERIFY_ERROR(world.Write({0, true}, bytes), code, part);
      QVERIFY(!world.IsThere({0, true}));
      QVERIFY(world.sink->refusals().back().find(part) != std::string::npos);
      QVERIFY(world.sink->refusals().back().starts_with("a: "));
    };
    using checkpoint::Header;
    refused("not a file of that kind", "byte 0");
    refused(good.substr(0, good.size() - 1), "ranks/0/model.safetensors.new");
    refused(good + "x", "ranks/0/model.safetensors.new");
    refused(Edited(good, [](Header& h) { h.metadata.erase("tessera.step"); }), "tessera.step");
    refused(Edited(good, [](Header& h) { h.metadata["tessera.step"] = "-1"; }), "'-1'");
    refused(Edited(good, [](Header& h) { h.metadata["tessera.step"] = "10x"; }), "'10x'");
    refused(Edited(good, [](Header& h) { h.metadata["tessera.job"] = "b"; }), "expected 'a'");
    refused(Edited(good, [](Header& h) { h.metadata["tessera.rank"] = "1"; }), "expected '0'");
    refused(Edited(good, [](Header& h) { h.metadata["tessera.layout"] = "00"; }), "tessera.layout");
    refused(Edited(good, [](Header& h) { h.tensors[0].name = "v"; }), "rank 0 holds no tensor 'v'");
    refused(Edited(good, [](Header& h) { h.tensors[0].dtype = ptc::DType::kI32; }), "i32");
    refused(
        Edited(good, [](Header& h) { std::swap(h.tensors[0].shape[0], h.tensors[0].shape[1]); }),
        "has shape [");
    refused(world.Read({0, false}), "rank 0 holds no tensor");
    refused(world.Read({1, true}), "tessera.rank");
    QVERIFY(world.sink->taken().empty());
    QCOMPARE(world.tree.usage().handles, 0U);
    // Unknown metadata are ignored, and most of Tessera's are optional.
    VERIFY_OK(world.Write({0, true}, Edited(good, [](Header& h) {
                            h.metadata = {{"tessera.step", "10"}, {"who", "me"}};
                          })));
  }

  void aMissingTensorIsNamed() {
    World world(test::MatrixLayout("tp=1 on 1x1", 8, 6));
    const std::string good = world.Read({0, false});
    auto header = *checkpoint::ParseHeader(good, std::ssize(good), "test");
    const auto& last = header.tensors.back();
    const std::string name = last.name;
    const auto data = good.substr(static_cast<std::size_t>(header.data_begin),
                                  static_cast<std::size_t>(last.begin));
    header.tensors.pop_back();
    VERIFY_ERROR(world.Write({0, false}, *checkpoint::PrintHeader(header) + data),
                 ErrorCode::kInvalidArgument, "'" + name + "' is missing");
  }

  void theStepInTheStateIsThatOfTheFile() {
    std::vector<ptc::TensorSpec> specs = {{.name = "job.step",
                                           .dtype = ptc::DType::kI64,
                                           .shape = {},
                                           .role = ptc::TensorRole::kScalar}};
    World world(*ptc::Layout::Make(*ptc::ParseDeviceMesh("tp=1 on 1x1"),
                                   *ptc::Collection::Make(std::move(specs), 1)));
    std::string file = world.Read({0, false});
    VERIFY_ERROR(world.Write({0, false}, file), ErrorCode::kInvalidArgument, "tessera.step is 10");
    const std::int64_t step = 10;
    std::memcpy(file.data() + file.size() - 8, &step, 8);
    VERIFY_OK(world.Write({0, false}, file));
    QCOMPARE(world.sink->taken().size(), 1U);
  }

  void thePlaceInTheDataIsThatOfTheStep_data() {
    QTest::addColumn<QString>("at_change");
    QTest::addColumn<qint64>("pass_length");  // 0: the data are not known here
    QTest::addColumn<QList<qint64>>("cursor");
    QTest::addColumn<QString>("part");  // of the error; empty: taken
    const auto row = [](const char* name, const char* at_change, qint64 length,
                        const QList<qint64>& cursor, const char* part) {
      QTest::newRow(name) << at_change << length << cursor << part;
    };
    const char* const keep = "keep";
    // Step 10 of 16 samples each: sample 160 of the run.
    row("first pass", keep, 0, {7, 0, 160}, "");
    row("a sample too far", keep, 0, {7, 0, 161},
        "'job.cursor' is seed 7, pass 0, sample 161, expected 160 samples in all (step 10 x global "
        "batch 16 = 160)");
    row("the begin", keep, 0, {7, 0, 0}, "expected 160 samples");
    row("another seed", keep, 0, {8, 0, 160}, "expected the job's seed 7");
    row("negative", keep, 0, {7, -1, 160}, "numbers of at least 0");
    row("third pass of 70", keep, 0, {7, 2, 20}, "");
    row("no pass is so long", keep, 0, {7, 2, 21}, "expected 160 samples");
    row("past the end of its pass", keep, 0, {7, 2, 120}, "expected 160 samples");
    row("third pass, data known", keep, 70, {7, 2, 20}, "");
    row("another length of pass, data known", keep, 70, {7, 1, 60},
        "is seed 7, pass 1, sample 60, expected seed 7, pass 2, sample 20");
    row("loses its place on purpose", "lose_position", 70, {7, 0, 48}, "");
    row("the same with another seed", "lose_position", 70, {8, 0, 48}, "the job's seed 7");
    row("changes its batch on purpose", "keep_device_batch", 70, {7, 1, 5}, "");
  }
  void thePlaceInTheDataIsThatOfTheStep() {
    QFETCH(QString, at_change);
    QFETCH(qint64, pass_length);
    QFETCH(QList<qint64>, cursor);
    QFETCH(QString, part);
    const auto samples = std::make_shared<test::FakeSamples>();
    if (pass_length > 0) {
      samples->Put({DataOfLength(pass_length), 7, 16, 0});
    } else {
      samples->Fail(NotFound("the data are elsewhere"));
    }
    World world(CursorLayout(), 1 << 30, samples);
    engine::JobSettings settings{.model = *engine::FindModel("gpt-nano")};
    settings.seed = 7;
    settings.at_change = *engine::ParseAtChange(at_change.toStdString());
    JobInfo job = world.Job();
    job.settings_json = engine::ToJson(settings);
    job.has_data = true;
    world.source->Put(job);
    world.Later();
    std::string file = world.Read({0, false});
    const std::array<std::int64_t, 3> words{cursor[0], cursor[1], cursor[2]};
    std::memcpy(file.data() + file.size() - sizeof words, words.data(), sizeof words);
    const Status written = world.Write({0, false}, file);
    if (part.isEmpty()) {
      VERIFY_OK(written);
      QCOMPARE(world.sink->taken().size(), 1U);
      return;
    }
    VERIFY_ERROR(written, ErrorCode::kInvalidArgument, part.toStdString());
    QVERIFY(world.sink->taken().empty());
    QVERIFY(world.sink->refusals().back().find("ranks/0/optimizer.safetensors.new") !=
            std::string::npos);
  }

  void digestsAreComparedWhereTheyAreGiven() {
    World world(test::MatrixLayout("tp=1 on 1x1", 8, 6));
    const auto info = world.Job();
    const std::string good = world.Read({0, true});
    const auto header = *checkpoint::ParseHeader(good, std::ssize(good), "test");
    const auto& w = header.tensors.front();
    const auto whole = *ptc::Box::Whole(w.shape);
    const auto* data =
        reinterpret_cast<const std::byte*>(good.data()) + header.data_begin + w.begin;
    const std::uint64_t digest = ptc::DigestBox(w.dtype, w.shape, whole, data, whole);
    const auto with = [&](std::uint64_t stated, const std::string& algorithm = "linear32-1") {
      return Edited(good, [&](checkpoint::Header& h) {
        h.metadata[std::string(checkpoint::kDigestKey)] =
            checkpoint::PrintDigests({{w.name, stated}});
        h.metadata[std::string(checkpoint::kDigestAlgorithmKey)] = algorithm;
      });
    };
    VERIFY_ERROR(world.Write({0, true}, with(digest + 1)), ErrorCode::kDataLoss, w.name);
    VERIFY_OK(world.Write({0, true}, with(digest)));
    VERIFY_OK(world.Write({0, true}, with(digest + 1, "of another version")));
  }

  void filesOfAHandInAgree() {
    World world(test::MatrixLayout("dp=2,tp=2 on 1x4", 8, 6));
    const auto files = world.Files();
    VERIFY_OK(world.Write({0, true}, files[0].second));
    // Ranks 0 and 2 are replicas.
    std::string other = files[4].second;
    other.back() = static_cast<char>(other.back() ^ 1);
    VERIFY_ERROR(world.Write({2, true}, other), ErrorCode::kInvalidArgument,
                 "differs between 'ranks/2/model.safetensors.new' and "
                 "'ranks/0/model.safetensors.new'");
    QVERIFY(!world.IsThere({2, true}));
    QVERIFY(world.IsThere({0, true}));
    world.source->Step("a");
    world.Later();
    const std::string later = world.Read({1, true});
    VERIFY_ERROR(
        world.Write({1, true}, later), ErrorCode::kInvalidArgument,
        "'ranks/1/model.safetensors.new' is of step 11, 'ranks/0/model.safetensors.new' of "
        "step 10, whose hand-in is not complete (1 of at most 8 files; tensor ");
    // The first rank begins again, which drops the files of the earlier step.
    const std::string again = world.Read({0, true});
    VERIFY_OK(world.Write({0, true}, again));
    VERIFY_OK(world.Write({1, true}, later));
    QCOMPARE(world.sink->taken().size(), 0U);
    VERIFY_OK(world.Write({0, false}, world.Read({0, false})));
    VERIFY_OK(world.Write({1, false}, world.Read({1, false})));
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
    QCOMPARE(world.sink->taken().front()->step, 11);
  }

  /// Every rank writes its files, as the guide says: the first replica completes the hand-in, and
  /// the others agree with it. Nothing of them stays that would block the next hand-in.
  void replicasThatArriveLateJoinTheHandIn() {
    World world(test::MatrixLayout("dp=2,tp=2 on 1x4", 8, 6));
    for (std::size_t round = 1; round <= 3; ++round) {
      for (const auto& [file, bytes] : world.Files()) VERIFY_OK(world.Write(file, bytes));
      QCOMPARE(world.sink->taken().size(), round);
      for (int rank = 0; rank < 4; ++rank) {
        QCOMPARE(world.List(rank), std::string("model.safetensors optimizer.safetensors"));
      }
      if (round == 2) continue;  // the third hands the same step in again
      world.source->Step("a");
      world.Later();
    }
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>(3, ""));
    QVERIFY(world.sink->refusals().empty());
  }

  /// A rank is slow: its files of a step arrive after others have begun to hand in the next one.
  void aLateReplicaDoesNotDisturbTheNextHandIn() {
    World world(test::MatrixLayout("dp=2,tp=2 on 1x4", 8, 6));
    const auto first = world.Files();
    for (std::size_t i = 0; i < 4; ++i) VERIFY_OK(world.Write(first[i].first, first[i].second));
    world.source->Step("a");
    world.Later();
    const auto second = world.Files();
    VERIFY_OK(world.Write(second[0].first, second[0].second));
    for (std::size_t i = 4; i < 8; ++i) VERIFY_OK(world.Write(first[i].first, first[i].second));
    QVERIFY(world.IsThere(second[0].first));
    for (std::size_t i = 1; i < 8; ++i) VERIFY_OK(world.Write(second[i].first, second[i].second));
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>(2, ""));
    QCOMPARE(world.sink->taken().back()->step, 11);
    QVERIFY(!world.IsThere(second[7].first));
  }

  void aLateReplicaThatDiffersIsRefused() {
    World world(test::MatrixLayout("dp=2,tp=2 on 1x4", 8, 6));
    const auto files = world.Files();
    for (std::size_t i = 0; i < 4; ++i) VERIFY_OK(world.Write(files[i].first, files[i].second));
    std::string other = files[4].second;
    other.back() = static_cast<char>(other.back() ^ 1);
    VERIFY_ERROR(
        world.Write({2, true}, other), ErrorCode::kInvalidArgument,
        "differs between 'ranks/2/model.safetensors.new' and "
        "'ranks/0/model.safetensors.new', whose step 10 the job has taken over: to hand in "
        "other state, write 'ranks/0/model.safetensors.new' first");
    QVERIFY(!world.IsThere({2, true}));
    // The remedy: other state begins with the file that the error names.
    for (std::size_t i = 0; i < 4; ++i) {
      std::string bytes = files[i].second;
      bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of 'b', which all of them have
      VERIFY_OK(world.Write(files[i].first, bytes));
    }
    QCOMPARE(world.sink->taken().size(), 2U);
    VERIFY_OK(world.Write({2, true}, other));
    QVERIFY(!world.IsThere({2, true}));
    // Long after it nothing is compared with it any more.
    world.Later(std::chrono::minutes(11));
    VERIFY_OK(world.Write({3, true}, files[6].second));
    QVERIFY(world.IsThere({3, true}));
  }

  /// Replicas that are closed during the transaction join it; if it fails, they wait for the next.
  void replicasJoinWhatIsBeingTaken() {
    World world(test::MatrixLayout("dp=2,tp=1 on 1x2", 8, 6));
    const auto files = world.Files();
    const auto late = [&] {
      VERIFY_OK(world.Write(files[2].first, files[2].second));
      VERIFY_ERROR(world.Write(files[0].first, files[0].second), ErrorCode::kUnavailable,
                   "a transaction is taking");
      VERIFY_ERROR(world.tree.Unlink(world.Folder(1), "model.safetensors.new"),
                   ErrorCode::kUnavailable, "a transaction is taking");
    };
    VERIFY_OK(world.Write(files[0].first, files[0].second));
    world.sink->Fail(Cancelled("transaction 5 was rolled back"));
    world.sink->InNextTake(late);
    VERIFY_ERROR(world.Write(files[1].first, files[1].second), ErrorCode::kCancelled,
                 "rolled back");
    QVERIFY(world.IsThere(files[2].first));
    VERIFY_OK(world.tree.Unlink(world.Folder(1), "model.safetensors.new"));
    world.sink->Fail(std::nullopt);
    world.sink->InNextTake(late);
    VERIFY_OK(world.Write(files[1].first, files[1].second));
    for (const auto& [file, bytes] : files) QVERIFY(!world.IsThere(file));
    VERIFY_OK(world.Write(files[3].first, files[3].second));
    QVERIFY(!world.IsThere(files[3].first));
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
  }

  // Each file is digested once, when it is read. The set, which is used under a lock, compares
  // digests and never reads bytes.
  void theSetNeverReadsTheBytesOfAFile() {
    World world(test::MatrixLayout("dp=4,tp=2 on 1x8", 8, 6));
    const auto job = world.Job();
    const auto cells = std::make_shared<const HandedCells>(job.layout);
    HandedSet set(job, cells);
    std::string wrong = world.Read({6, true});
    wrong.back() = static_cast<char>(wrong.back() ^ 1);
    const auto read = [&](int rank, StateFile state_file, std::string& bytes) {
      auto file =
          ReadHandedFile(job, *cells, rank, state_file, std::as_bytes(std::span(bytes)), "path");
      std::ranges::fill(bytes, '\0');  // gone before the set sees the file
      return file;
    };
    for (int rank = 0; rank < 8; ++rank) {
      for (const bool model : {true, false}) {
        std::string bytes = world.Read({rank, model});
        auto file = read(rank, model ? StateFile::kModel : StateFile::kOptimizer, bytes);
        VERIFY_OK(file);
        // Each cell of the file once, independent of the number of files.
        std::vector<std::size_t> numbers;
        for (const auto& cell : file->cells) numbers.push_back(cell.cell);
        QVERIFY(std::ranges::adjacent_find(numbers, std::ranges::greater_equal()) == numbers.end());
        VERIFY_OK(set.Check(*file));
        set.Add(std::move(*file), nullptr);
        QCOMPARE(set.complete(), rank >= 1 && (rank > 1 || !model));
      }
    }
    const auto other = read(6, StateFile::kModel, wrong);
    VERIFY_OK(other);
    VERIFY_ERROR(set.Check(*other), ErrorCode::kInvalidArgument, "differs between");
    for (const auto& key : set.Keys()) set.Remove(key);
    QVERIFY(!set.complete());
    QVERIFY(set.Missing().find("is missing") != std::string::npos);
    VERIFY_OK(set.Check(*other));
  }

  // Handed in as the mount shows them: q, k and v joined, along either dimension.
  void fusedTensorsAreHandedIn() {
    for (const int dim : {0, 1}) {
      ptc::TensorSpec qkv{.name = "qkv", .dtype = ptc::DType::kF32, .shape = {16, 16}};
      qkv.segments = ptc::Segments{dim, {{8}, {4}, {4}}};
      qkv.rule.dims.resize(2);
      qkv.rule.dims[static_cast<std::size_t>(dim)].axes = {ptc::Axis::kTp};
      World world(*ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2 on 1x4"),
                                     *ptc::Collection::Make({qkv}, 1)));
      auto files = world.Files();
      const auto header =
          *checkpoint::ParseHeader(files[0].second, std::ssize(files[0].second), "test");
      QCOMPARE(header.tensors.size(), 1U);
      QCOMPARE(header.tensors[0].name, std::string("qkv"));
      std::string other = files[4].second;  // rank 2 holds what rank 0 holds
      other.back() = static_cast<char>(other.back() ^ 1);
      VERIFY_OK(world.Write(files[0].first, files[0].second));
      VERIFY_ERROR(world.Write(files[4].first, other), ErrorCode::kInvalidArgument,
                   "tensor 'qkv' [");
      VERIFY_OK(world.Write(files[2].first, files[2].second));
      QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
    }
  }

  void aFailedTakeLeavesTheOthers() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const auto files = world.Files();
    for (std::size_t i = 0; i + 1 < files.size(); ++i) {
      VERIFY_OK(world.Write(files[i].first, files[i].second));
    }
    world.sink->Fail(Cancelled("transaction 5 was rolled back: n1 fell silent"));
    VERIFY_ERROR(world.Write(files.back().first, files.back().second), ErrorCode::kCancelled,
                 "n1 fell silent");
    QVERIFY(!world.IsThere(files.back().first));
    QVERIFY(world.IsThere(files.front().first));
    world.sink->Fail(std::nullopt);
    VERIFY_OK(world.Write(files.back().first, files.back().second));
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
  }

  void nobodyWritesWhatIsBeingTaken() {
    World world(test::MatrixLayout("tp=1 on 1x1", 8, 6));
    const auto files = world.Files();
    VERIFY_OK(world.Write(files[0].first, files[0].second));
    int asked = 0;
    world.sink->InNextTake([&] {
      ++asked;
      VERIFY_ERROR(world.Write(files[0].first, files[0].second), ErrorCode::kUnavailable,
                   "a transaction is taking");
      VERIFY_ERROR(world.tree.Unlink(world.Folder(0), "model.safetensors.new"),
                   ErrorCode::kUnavailable, "a transaction is taking");
      QVERIFY(world.IsThere(files[0].first));  // lookups still work
    });
    VERIFY_OK(world.Write(files[1].first, files[1].second));
    QCOMPARE(asked, 1);
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
  }

  void aChangedLayoutEndsAHandIn() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const auto old = world.Files();
    VERIFY_OK(world.Write(old[0].first, old[0].second));
    const auto open = world.tree.Create(world.Folder(1), "model.safetensors.new", world.now);
    VERIFY_OK(world.tree.Write(open->handle, 0, std::as_bytes(std::span(old[2].second))));
    world.source->Reconfigure("a", test::MatrixLayout("tp=4 on 1x4", 8, 6));
    world.Later();
    VERIFY_ERROR(world.tree.Flush(open->handle, world.now), ErrorCode::kFailedPrecondition,
                 "was created for layout");
    world.tree.Release(open->handle);
    const auto files = world.Files();
    for (const auto& [file, bytes] : files) VERIFY_OK(world.Write(file, bytes));
    QCOMPARE(world.sink->taken().size(), 1U);
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
    QVERIFY(world.sink->taken().front()->layout == world.Job().layout);
  }

  void memoryAndSizeAreLimited() {
    World world(test::MatrixLayout("tp=1 on 1x1", 64, 64), 30000);  // about 20 KiB a file
    const auto files = world.Files();
    VERIFY_OK(world.Write(files[1].first, files[1].second));
    VERIFY_ERROR(world.Write(files[0].first, files[0].second), ErrorCode::kResourceExhausted,
                 "of 30000 bytes");
    QVERIFY(!world.IsThere(files[0].first));
    VERIFY_OK(world.tree.Unlink(world.Folder(0), "optimizer.safetensors.new"));
    const auto created = world.tree.Create(world.Folder(0), "model.safetensors.new", world.now);
    const std::byte one{1};
    VERIFY_ERROR(world.tree.Write(created->handle, std::int64_t{1} << 40, {&one, 1}),
                 ErrorCode::kResourceExhausted, "is outside of a file of at most");
    VERIFY_ERROR(world.tree.Resize(created->attributes.ino, std::int64_t{1} << 40),
                 ErrorCode::kResourceExhausted, "the limit is");
    world.tree.Release(created->handle);
    VERIFY_OK(world.Write(files[0].first, files[0].second));  // all memory is there again
  }

  /// Shells open a file, close one descriptor of it, and write to another.
  void aCloseBeforeTheFirstByteIsNone() {
    World world(test::MatrixLayout("tp=1 on 1x1", 8, 6));
    const auto files = world.Files();
    const auto created = world.tree.Create(world.Folder(0), "model.safetensors.new", world.now);
    VERIFY_OK(world.tree.Flush(created->handle, world.now));
    VERIFY_OK(world.tree.Write(created->handle, 0, std::as_bytes(std::span(files[0].second))));
    VERIFY_OK(world.tree.Flush(created->handle, world.now));
    world.tree.Release(created->handle);
    QVERIFY(world.IsThere(files[0].first));
    // A file without a byte is removed with its last handle.
    const auto empty = world.tree.Create(world.Folder(0), "optimizer.safetensors.new", world.now);
    VERIFY_OK(world.tree.Flush(empty->handle, world.now));
    QVERIFY(world.IsThere(files[1].first));
    world.tree.Release(empty->handle);
    QVERIFY(!world.IsThere(files[1].first));
    QVERIFY(world.sink->refusals().empty());
  }

  void whatWaitsTooLongIsDropped() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    VERIFY_OK(world.Write({0, true}, world.Read({0, true})));
    world.Later(std::chrono::minutes(9));
    QVERIFY(world.IsThere({0, true}));
    world.Later(std::chrono::minutes(2));
    QVERIFY(!world.IsThere({0, true}));
    QCOMPARE(world.sink->refusals().size(), 1U);
    QVERIFY(world.sink->refusals().front().find("1 of at most 4 files") != std::string::npos);
  }

  void filesAreRemovedAndRead() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const std::string bytes = world.Read({0, true});
    VERIFY_OK(world.Write({0, true}, bytes));
    const auto found = world.tree.Lookup(world.Folder(0), "model.safetensors.new", world.now);
    const auto handle = world.tree.Open(found->ino, world.now);
    std::vector<std::byte> room(bytes.size() + 10);
    const auto read = world.tree.Read(*handle, 3, room);
    QCOMPARE(read->fragments.size(), 1U);
    QCOMPARE(read->fragments[0].size(), bytes.size() - 3);
    QVERIFY(std::memcmp(read->fragments[0].data(), bytes.data() + 3, bytes.size() - 3) == 0);
    VERIFY_ERROR(world.tree.Write(*handle, 0, room), ErrorCode::kInvalidArgument,
                 "not open for writing");
    world.tree.Release(*handle);
    VERIFY_OK(world.tree.Unlink(world.Folder(0), "model.safetensors.new"));
    VERIFY_ERROR(world.tree.Unlink(world.Folder(0), "model.safetensors.new"), ErrorCode::kNotFound,
                 "ranks/0/model.safetensors.new");
    QVERIFY(!world.IsThere({0, true}));
  }

  void nothingElseIsWritten() {
    World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
    const auto rank = world.Folder(0);
    for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
      VERIFY_ERROR(world.tree.Create(rank, name, world.now), ErrorCode::kUnimplemented, name);
    }
    VERIFY_ERROR(world.tree.Create(kRootIno, "model.safetensors.new", world.now),
                 ErrorCode::kUnimplemented, "cannot be created");
    const auto model = world.tree.Lookup(rank, "model.safetensors", world.now);
    VERIFY_ERROR(world.tree.OpenToWrite(model->ino, false, world.now), ErrorCode::kUnimplemented,
                 "cannot be written");
    VERIFY_ERROR(world.tree.Unlink(rank, "model.safetensors"), ErrorCode::kUnimplemented,
                 "cannot be removed");
    Tree closed(world.source, kStart);
    Ino at = kRootIno;
    for (const char* name : {"jobs", "a", "ranks", "1"}) at = closed.Lookup(at, name, kStart)->ino;
    QVERIFY(!closed.Attr(at)->writable);
    VERIFY_ERROR(closed.Create(at, "model.safetensors.new", kStart), ErrorCode::kUnimplemented,
                 "cannot be created");
  }

  /// Libraries write a file under another name and rename the complete file, open or closed.
  void aRenamedFileIsHandedIn() {
    World world(test::MatrixLayout("tp=1 on 1x1", 8, 6));
    const auto files = world.Files();
    const Ino folder = world.Folder(0);
    const auto scratch = [&](const char* name, const std::string& bytes) {
      const auto created = world.tree.Create(folder, name, world.now);
      const bool written = world.tree.Write(created->handle, 0, std::as_bytes(std::span(bytes))) &&
                           world.tree.Flush(created->handle, world.now);
      return written ? created->handle : 0;
    };
    const auto open = scratch(".tmp1", files[0].second);
    QCOMPARE(world.List(0), std::string("model.safetensors optimizer.safetensors .tmp1"));
    VERIFY_OK(world.tree.Rename(folder, ".tmp1", "model.safetensors.new", false, world.now));
    VERIFY_OK(world.tree.Flush(open, world.now));
    world.tree.Release(open);
    QCOMPARE(world.List(0),
             std::string("model.safetensors optimizer.safetensors model.safetensors.new"));
    VERIFY_ERROR(world.tree.Rename(folder, ".tmp1", "x", false, world.now), ErrorCode::kNotFound,
                 ".tmp1");

    world.tree.Release(scratch("half", files[1].second.substr(0, files[1].second.size() - 10)));
    VERIFY_ERROR(world.tree.Rename(folder, "half", "optimizer.safetensors.new", false, world.now),
                 ErrorCode::kInvalidArgument, "ranks/0/optimizer.safetensors.new");
    QVERIFY(world.IsThere(files[0].first) && !world.IsThere(files[1].first));
    VERIFY_OK(world.tree.Rename(folder, "half", "other half", false, world.now));
    VERIFY_ERROR(world.tree.Rename(folder, "other half", "model.safetensors.new", true, world.now),
                 ErrorCode::kAlreadyExists, "model.safetensors.new");
    VERIFY_ERROR(world.tree.Rename(folder, "other half", "model.safetensors", false, world.now),
                 ErrorCode::kUnimplemented, "cannot be renamed");
    QCOMPARE(world.sink->refusals().size(), 1U);
    world.tree.Release(scratch("whole", files[1].second));
    VERIFY_OK(world.tree.Rename(folder, "whole", "optimizer.safetensors.new", false, world.now));
    QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
    // A forgotten temporary file is removed.
    QCOMPARE(world.List(0), std::string("model.safetensors optimizer.safetensors other half"));
    world.Later(std::chrono::minutes(11));
    QCOMPARE(world.List(0), std::string("model.safetensors optimizer.safetensors"));
  }

  /// The last two files of a hand-in are closed at the same time: it is taken once.
  void closesAtOnceTakeOnce() {
    for (int i = 0; i < 50; ++i) {
      World world(test::MatrixLayout("tp=2 on 1x2", 8, 6));
      const auto files = world.Files();
      std::vector<std::jthread> writers;
      std::atomic<int> failed = 0;
      for (const auto& file : files) {
        writers.emplace_back([&world, &file, &failed] {
          if (!world.Write(file.first, file.second)) ++failed;
        });
      }
      writers.clear();
      QCOMPARE(failed.load(), 0);
      QCOMPARE(world.sink->verdicts(), std::vector<std::string>{""});
    }
  }
};

TESSERA_TEST_APPLESS(VfsHandInTest)
#include "vfs_hand_in_test.moc"
