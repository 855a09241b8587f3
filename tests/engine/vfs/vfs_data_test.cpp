// SPDX-License-Identifier: Apache-2.0

/// \file
/// The folders data/D of the tree: their samples at each step, before and after changes of the job.
/// Every sample is a distinct number.

#include <QTest>
#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "engine/data/cursor.h"
#include "engine/vfs/tree.h"
#include "tests/engine/vfs/fake_samples.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/engine/vfs/tree_walk.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine::vfs;
using std::chrono::milliseconds;

namespace {

const Time kStart = Time() + std::chrono::hours(1);

/// Samples of the format TFRecord, with records such as "<17>".
class Numbers final : public engine::Dataset {
 public:
  explicit Numbers(std::int64_t count) : count_(count) {}
  void Fail(bool fails) const { fails_ = fails; }

  engine::DataFormat format() const override { return engine::DataFormat::kTfRecord; }
  std::int64_t sequence() const override { return 1; }
  std::int64_t num_samples() const override { return count_; }
  std::uint64_t fingerprint() const override { return 0; }
  Status ReadTokens(std::int64_t, std::span<std::int32_t>) const override {
    return Internal("nobody reads tokens");
  }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override {
    if (fails_) return DataLoss("data file 'n.tfrecord' at byte 21: the CRC of a record is wrong");
    const std::string text = TextOf(sample);
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  std::int64_t RecordBytes(std::int64_t sample) const override {
    return std::ssize(TextOf(sample));
  }
  std::string Describe(std::int64_t) const override { return "n.tfrecord"; }

 private:
  static std::string TextOf(std::int64_t sample) { return "<" + std::to_string(sample) + ">"; }
  const std::int64_t count_;
  mutable std::atomic<bool> fails_ = false;
};

/// "<3><17>" as numbers.
std::vector<std::int64_t> ParseNumbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size(); at = text.find('>', at) + 1) {
    numbers.push_back(std::stoll(text.substr(at + 1)));
  }
  return numbers;
}

ptc::Layout LayoutOf(int dp, int tp = 1) {
  const ptc::TensorSpec b{.name = "b", .dtype = ptc::DType::kF32, .shape = {}};
  const std::string mesh =
      "dp=" + std::to_string(dp) + ",tp=" + std::to_string(tp) + " on 1x" + std::to_string(dp * tp);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({b}, 1));
}

struct World {
  std::shared_ptr<test::FakeSource> source = std::make_shared<test::FakeSource>();
  std::shared_ptr<test::FakeSamples> samples = std::make_shared<test::FakeSamples>();
  std::shared_ptr<const Numbers> numbers;
  Time now = kStart;
  Tree tree{source, kStart, {.samples = samples, .sample_bytes = 4000}};

  explicit World(int dp, std::int64_t num_samples = 1000, std::int64_t batch = 6,
                 std::int64_t max_steps = 0) {
    JobInfo job = test::AnyJobInfo("a", LayoutOf(dp));  // at step 10
    job.has_data = true;
    source->Put(std::move(job));
    numbers = std::make_shared<const Numbers>(num_samples);
    samples->Put({*engine::DataMix::Make({{numbers, 0}}), 5, batch, max_steps});
  }
  void Later() { now += milliseconds(200); }
  void Reconfigure(int dp, int tp = 1) {
    source->Reconfigure("a", LayoutOf(dp, tp));
    Later();
  }
  Result<Tree::Attributes> Find(std::string_view path) { return test::FindPath(tree, path, now); }
  Result<std::string> ReadAll(Tree::Handle handle) { return test::ReadAll(tree, handle); }
  Result<std::string> Cat(std::string_view path) { return test::ReadPath(tree, path, now); }
  Result<std::vector<std::string>> List(std::string_view path) {
    return test::ListPath(tree, path, now);
  }
  /// The samples of all ranks at a step, in the order of the ranks.
  Result<std::vector<std::int64_t>> BatchOf(std::int64_t step, std::vector<std::size_t>* sizes) {
    TESSERA_TRY(const auto ranks, List("jobs/a/data"));
    std::string name = std::to_string(step);
    name = "/" + std::string(8 - name.size(), '0') + name + ".tfrecord";
    std::vector<std::int64_t> batch;
    for (const std::string& rank : ranks) {
      TESSERA_TRY(const std::string text, Cat("jobs/a/data/" + rank + name));
      const auto share = ParseNumbers(text);
      if (sizes != nullptr) sizes->push_back(share.size());
      batch.insert(batch.end(), share.begin(), share.end());
    }
    return batch;
  }
};

const char* const kNext = "jobs/a/data/0/00000010.tfrecord";

}  // namespace

class VfsDataTest : public QObject {
  Q_OBJECT
 private slots:
  void theComingStepsAreListed() {
    World world(2);
    using Names = std::vector<std::string>;
    QVERIFY(
        (*world.List("jobs/a") == Names{"epoch", "step", "layout.json", "ranks", "full", "data"}));
    QVERIFY((*world.List("jobs/a/data") == Names{"0", "1"}));
    QCOMPARE(world.samples->num_opens(), 0);  // no data were needed for that
    const auto names = world.List("jobs/a/data/1");
    QCOMPARE(names->size(), std::size_t{64});
    QCOMPARE(names->front(), std::string("00000010.tfrecord"));
    QCOMPARE(names->back(), std::string("00000073.tfrecord"));
    QVERIFY(std::ranges::is_sorted(*names));
    world.source->Step("a", 3);
    world.Later();
    QCOMPARE(world.List("jobs/a/data/1")->front(), std::string("00000013.tfrecord"));
    QCOMPARE(world.source->num_pins(), 0);
  }

  void noStepIsBeyondTheLast() {
    World world(1, 1000, 6, 12);
    QCOMPARE(world.List("jobs/a/data/0")->size(), std::size_t{2});
    VERIFY_OK(world.Find("jobs/a/data/0/00000011.tfrecord"));
    VERIFY_ERROR(world.Find("jobs/a/data/0/00000012.tfrecord"), ErrorCode::kNotFound, "00000012");
    world.source->Step("a", 2);
    world.Later();
    QVERIFY(world.List("jobs/a/data/0")->empty());
  }

  void otherNamesAreNotThere() {
    World world(2);
    for (const char* none :
         {"2", "01", "x", "0/10.tfrecord", "0/0000000010.tfrecord", "0/00000010.tar", "0/00000010",
          "0/-0000010.tfrecord", "0/.tfrecord", "0/00000010.tfrecord2",
          "0/99999999999999999999.tfrecord", "0/9223372036854775807.tfrecord"}) {
      VERIFY_ERROR(world.Find("jobs/a/data/" + std::string(none)), ErrorCode::kNotFound, "");
    }
  }

  void anyStepIsOpenedByName() {
    World world(2);
    for (const std::int64_t step : {0, 9, 10, 99'999'999}) {
      const auto batch = world.BatchOf(step, nullptr);
      VERIFY_OK(batch);
      const auto wanted =
          engine::SamplesAt(engine::Advance({.seed = 5}, step * 6, 1000), 0, 6, 1000);
      QVERIFY(*batch == *wanted);
    }
    VERIFY_OK(world.Cat("jobs/a/data/0/100000000.tfrecord"));
  }

  // For many passes, some shorter than a batch, and every mesh: the ranks together read the samples
  // in order, each once per pass, and their shares differ by at most one.
  void everySampleIsReadOnceAPassWhateverTheMesh() {
    std::mt19937_64 rng(test::Seed());
    for (int history = 0; history < 20; ++history) {
      const auto num_samples = static_cast<std::int64_t>(1 + rng() % 50);
      const auto batch = static_cast<std::int64_t>(1 + rng() % 140);
      World world(1, num_samples, batch);
      world.source->Step("a", -10);
      world.Later();
      std::map<std::int64_t, std::int64_t> read;
      std::int64_t count = 0;
      for (int step = 0; step < 40; ++step) {
        std::vector<std::size_t> sizes;
        const auto samples = world.BatchOf(step, &sizes);
        VERIFY_OK(samples);
        QCOMPARE(std::ssize(*samples), batch);
        const auto [least, most] = std::ranges::minmax(sizes);
        QVERIFY(most - least <= 1 && std::ranges::is_sorted(sizes, std::greater<>()));
        for (const std::int64_t sample : *samples) {
          const std::int64_t pass = count++ / num_samples;
          QVERIFY2(read[sample]++ == pass, "a sample came before others of the pass had come");
        }
        world.source->Step("a");
        world.Later();
        if (rng() % 3 == 0) {
          const auto most_ranks = static_cast<std::uint64_t>(std::min<std::int64_t>(batch, 9));
          world.Reconfigure(static_cast<int>(1 + rng() % most_ranks),
                            static_cast<int>(1 + rng() % 2));
        }
      }
    }
  }

  void sharesThatDoNotDivide() {
    World world(3, 1000, 128);
    std::vector<std::size_t> sizes;
    VERIFY_OK(world.BatchOf(10, &sizes));
    QVERIFY((sizes == std::vector<std::size_t>{43, 43, 42}));
  }

  void anInodeShowsOneShare() {
    World world(2);
    const auto before = world.Find(kNext);
    QCOMPARE(world.Find(kNext)->ino, before->ino);
    world.Reconfigure(2, 2);  // the same data-parallel ranks
    QCOMPARE(world.Find(kNext)->ino, before->ino);
    const auto handle = world.tree.Open(before->ino, world.now);
    const auto shown = world.ReadAll(*handle);
    world.Reconfigure(3);
    // Open files do not change. To open an older one again needs another lookup.
    QCOMPARE(*world.ReadAll(*handle), *shown);
    VERIFY_ERROR(world.tree.Open(before->ino, world.now), ErrorCode::kFailedPrecondition,
                 "looked up again");
    const auto after = world.Find(kNext);
    QVERIFY(after->ino != before->ino);
    QCOMPARE(ParseNumbers(*world.Cat(kNext)).size(), std::size_t{2});
    QCOMPARE(ParseNumbers(*shown).size(), std::size_t{3});
    world.tree.Release(*handle);
  }

  void ranksThatAreGone() {
    World world(3);
    const auto folder = world.Find("jobs/a/data/2");
    const auto file = world.Find("jobs/a/data/2/00000010.tfrecord");
    VERIFY_OK(file);
    world.Reconfigure(2);
    VERIFY_ERROR(world.tree.Lookup(folder->ino, "00000010.tfrecord", world.now),
                 ErrorCode::kNotFound, "2 data-parallel ranks, and no rank 2");
    VERIFY_ERROR(world.tree.OpenFolder(folder->ino, world.now), ErrorCode::kNotFound, "no rank 2");
    VERIFY_ERROR(world.tree.Open(file->ino, world.now), ErrorCode::kFailedPrecondition,
                 "looked up again");
    world.source->Remove("a");
    world.Later();
    VERIFY_ERROR(world.tree.Open(file->ino, world.now), ErrorCode::kNotFound, "no job 'a'");
  }

  void otherDataAreOtherInodes() {
    World world(2);
    const auto before = world.Find(kNext);
    const auto shown = world.Cat(kNext);
    world.samples->Put({*engine::DataMix::Make({{world.numbers, 0}}), 6, 6, 0});
    VERIFY_ERROR(world.tree.Open(before->ino, world.now), ErrorCode::kFailedPrecondition,
                 "looked up again");
    QVERIFY(world.Find(kNext)->ino != before->ino);
    QVERIFY(*world.Cat(kNext) != *shown);
  }

  // While files of a view are open, the whole folder of the job shows the step of the view.
  void dataAreThoseOfTheViewThatIsOpen() {
    World world(2);
    const auto state = world.tree.Open(world.Find("jobs/a/full/model.safetensors")->ino, world.now);
    VERIFY_OK(state);
    world.source->Step("a", 5);
    world.Reconfigure(3);
    QCOMPARE(world.List("jobs/a/data/1")->front(), std::string("00000010.tfrecord"));
    QCOMPARE(world.List("jobs/a/data")->size(), std::size_t{2});
    world.tree.Release(*state);
    QCOMPARE(world.List("jobs/a/data")->size(), std::size_t{3});
    QCOMPARE(world.List("jobs/a/data/1")->front(), std::string("00000015.tfrecord"));
  }

  void jobsWithoutDataHaveNoFolder() {
    World world(2);
    world.source->Put(test::AnyJobInfo("own", LayoutOf(2)));
    world.Later();
    QVERIFY(!std::ranges::count(*world.List("jobs/own"), "data"));
    VERIFY_ERROR(world.Find("jobs/own/data"), ErrorCode::kNotFound, "data");
    Tree without(world.source, kStart);
    const auto job = without.Lookup(without.Lookup(kRootIno, "jobs", kStart)->ino, "a", kStart);
    const auto data = without.Lookup(without.Lookup(job->ino, "data", kStart)->ino, "0", kStart);
    VERIFY_ERROR(without.OpenFolder(data->ino, kStart), ErrorCode::kNotFound,
                 "no data set that this host can open");
  }

  void whatCannotBeReadIsOneError() {
    World world(2);
    const auto folder = world.Find("jobs/a/data/0");
    for (const Error& error :
         {NotFound("data path '/x' does not exist"), Unavailable("https://x: no answer"),
          FailedPrecondition("odd"), DataLoss("'x.idx' at byte 9: version 3, known is 1")}) {
      world.samples->Fail(error);
      VERIFY_ERROR(world.tree.OpenFolder(folder->ino, world.now), ErrorCode::kDataLoss,
                   error.message);
      VERIFY_ERROR(world.Find(kNext), ErrorCode::kDataLoss, error.message);
    }
    world.samples->Fail(Timeout("3 of 9 bytes are read"));
    VERIFY_ERROR(world.Find(kNext), ErrorCode::kTimeout, "3 of 9");
    VERIFY_OK(world.Cat("jobs/a/step"));  // all else works
    VERIFY_OK(world.Find("jobs/a/full/model.safetensors"));
    world.samples->Fail(std::nullopt);
    VERIFY_OK(world.Cat(kNext));
  }

  void aSampleThatCannotBeReadFailsTheOpen() {
    World world(2);
    world.numbers->Fail(true);
    const auto found = world.Find(kNext);
    VERIFY_OK(found);  // sizes need no data
    VERIFY_ERROR(world.tree.Open(found->ino, world.now), ErrorCode::kDataLoss,
                 "data file 'n.tfrecord' at byte 21");
    QCOMPARE(world.tree.usage().handles, 0U);
    QCOMPARE(world.samples->num_failed(), 1);
    world.numbers->Fail(false);
    VERIFY_OK(world.tree.Open(found->ino, world.now));
  }

  void whatWasOpenedLastStaysInMemory() {
    World world(2);
    const auto shown = world.Cat(kNext);
    world.numbers->Fail(true);
    QCOMPARE(*world.Cat(kNext), *shown);
  }

  void memoryForOpenFilesIsLimited() {
    World world(1, 1000, 500);  // above 2000 and below 3000 bytes a step
    const auto first = world.tree.Open(world.Find(kNext)->ino, world.now);
    VERIFY_OK(first);
    const auto other = world.Find("jobs/a/data/0/00000011.tfrecord");
    QVERIFY(2000 < other->size && other->size < 3000);
    VERIFY_ERROR(world.tree.Open(other->ino, world.now), ErrorCode::kResourceExhausted,
                 "the limit is 4000");
    VERIFY_OK(world.Cat("jobs/a/step"));
    world.tree.Release(*first);
    VERIFY_OK(world.tree.Open(other->ino, world.now));
  }

  void whichInodesMayWait() {
    World world(2);
    QVERIFY(world.tree.MayWait(world.Find("jobs/a/data/0")->ino));
    QVERIFY(world.tree.MayWait(world.Find(kNext)->ino));
    for (const char* quick : {"", "jobs/a", "jobs/a/data", "jobs/a/step", "jobs/a/ranks/0"}) {
      QVERIFY(!world.tree.MayWait(world.Find(quick)->ino));
    }
    QVERIFY(!world.tree.MayWait(9999));
  }
};

TESSERA_TEST_APPLESS(VfsDataTest)
#include "vfs_data_test.moc"
