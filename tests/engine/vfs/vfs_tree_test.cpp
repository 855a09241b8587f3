// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <atomic>
#include <random>
#include <thread>

#include "engine/vfs/tree.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/engine/vfs/tree_walk.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine::vfs;
using std::chrono::milliseconds;
using test::FakeSource;

namespace {

const Time kStart = Time() + std::chrono::hours(1);
const char* const kModelFile = "jobs/a/full/model.safetensors";

/// A tree, a clock, and the inodes that a kernel remembers.
struct World {
  std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
  Time now = kStart;
  Tree tree{source, kStart};

  explicit World(ptc::Layout layout) { source->Put(test::AnyJobInfo("a", std::move(layout))); }

  /// Advances the clock so that the cached list of jobs expires.
  void Later(milliseconds by = milliseconds(200)) { now += by; }
  Result<Tree::Attributes> Find(std::string_view path) { return test::FindPath(tree, path, now); }
  Result<Tree::Handle> Open(std::string_view path) {
    TESSERA_TRY(const auto found, Find(path));
    return tree.Open(found.ino, now);
  }
  Result<std::string> ReadAll(Tree::Handle handle) { return test::ReadAll(tree, handle); }
  Result<std::string> Cat(std::string_view path) { return test::ReadPath(tree, path, now); }
  JobInfo Job() { return source->Jobs()->front(); }
  /// "a b c", the names in a folder.
  std::string List(std::string_view path) { return test::NamesIn(tree, path, now); }
};

ptc::Layout LayoutOf(const char* mesh, std::int64_t rows = 8) {
  ptc::TensorSpec w{.name = "w", .dtype = ptc::DType::kF32, .shape = {rows, 4}};
  w.rule.dims = {{.axes = {ptc::Axis::kTp}}, {}};
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({w}, 1));
}

}  // namespace

class VfsTreeTest : public QObject {
  Q_OBJECT
 private slots:
  void theTreeHasTheseNames() {
    World world(LayoutOf("tp=2 on 1x2"));
    world.source->Put(test::AnyJobInfo("b", LayoutOf("tp=1 on 1x1")));
    world.source->Put(test::AnyJobInfo("no/folder", LayoutOf("tp=1 on 1x1")));
    world.source->Put(test::AnyJobInfo("..", LayoutOf("tp=1 on 1x1")));
    QCOMPARE(world.List(""), std::string("jobs"));
    QCOMPARE(world.List("jobs"), std::string("a b"));
    QCOMPARE(world.List("jobs/a"), std::string("epoch step layout.json ranks full"));
    QCOMPARE(world.List("jobs/a/ranks"), std::string("0 1"));
    QCOMPARE(world.List("jobs/a/ranks/1"), std::string("model.safetensors optimizer.safetensors"));
    QCOMPARE(world.List("jobs/a/full"), std::string("model.safetensors optimizer.safetensors"));
    for (const char* none : {"jobs/c", "jobs/a/x", "jobs/a/ranks/2", "jobs/a/ranks/01",
                             "jobs/a/ranks/-1", "jobs/..", "x"}) {
      VERIFY_ERROR(world.Find(none), ErrorCode::kNotFound, "");
    }
  }

  void textsAreThoseOfTheJob() {
    World world(LayoutOf("tp=2 on 1x2"));
    QCOMPARE(*world.Cat("jobs/a/epoch"), std::string("1\n"));
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("10\n"));
    QCOMPARE(*world.Cat("jobs/a/layout.json"), ToJson(LayoutOf("tp=2 on 1x2")) + "\n");
    QCOMPARE(world.source->num_pins(), 0);
  }

  void anotherTextIsAnotherInode() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto first = world.Find("jobs/a/step");
    const auto handle = world.tree.Open(first->ino, world.now);
    world.source->Step("a");
    world.Later();
    const auto second = world.Find("jobs/a/step");
    QVERIFY(first->ino != second->ino);
    QCOMPARE(world.Find("jobs/a/epoch")->ino, world.Find("jobs/a/epoch")->ino);
    QCOMPARE(*world.ReadAll(*handle), std::string("10\n"));
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("11\n"));
  }

  void jobsAreAskedForAtMostSoOften() {
    World world(LayoutOf("tp=2 on 1x2"));
    for (int i = 0; i < 20; ++i) VERIFY_OK(world.Cat("jobs/a/step"));
    QCOMPARE(world.source->num_jobs_calls(), 1);
    world.Later();
    VERIFY_OK(world.Find("jobs/a/step"));
    QCOMPARE(world.source->num_jobs_calls(), 2);
  }

  void allOpensShareTheViewOfTheFirst() {
    World world(LayoutOf("tp=2 on 1x2"));
    const JobInfo before = world.Job();
    const auto model = world.Open(kModelFile);
    VERIFY_OK(model);
    world.source->Step("a", 5);
    world.Later();
    const auto rank = world.Open("jobs/a/ranks/1/model.safetensors");
    VERIFY_OK(rank);
    QCOMPARE(world.source->num_pins(), 1);
    QCOMPARE(test::Judge(*world.ReadAll(*model), before, std::nullopt, true), std::string());
    QCOMPARE(test::Judge(*world.ReadAll(*rank), before, 1, true), std::string());
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("10\n"));  // of the view

    world.tree.Release(*model);
    QCOMPARE(world.source->num_views(), 1);
    world.tree.Release(*rank);
    QCOMPARE(world.source->num_views(), 0);
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("15\n"));
  }

  /// The list of jobs is cached, and the view was opened after it.
  void noFileIsOlderThanAViewThatWasReadBefore() {
    World world(LayoutOf("tp=2 on 1x2"));
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("10\n"));
    world.source->Step("a", 7);
    VERIFY_OK(world.Cat(kModelFile));
    QCOMPARE(world.source->num_views(), 0);
    QCOMPARE(*world.Cat("jobs/a/step"), std::string("17\n"));
    QCOMPARE(world.source->num_jobs_calls(), 1);
  }

  void aViewHasInodesOfItsOwn() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto first = world.Find(kModelFile);
    QCOMPARE(world.Find(kModelFile)->ino, first->ino);  // not opened yet: still the same
    const auto handle = world.tree.Open(first->ino, world.now);
    QCOMPARE(world.Find(kModelFile)->ino, first->ino);
    world.tree.Release(*handle);
    VERIFY_ERROR(world.tree.Open(first->ino, world.now), ErrorCode::kFailedPrecondition,
                 "looked up again");
    world.source->Step("a");
    const auto second = world.Find(kModelFile);
    QVERIFY(second->ino != first->ino);
    QCOMPARE(second->size, first->size);
    const auto again = world.tree.Open(second->ino, world.now);
    QCOMPARE(test::Judge(*world.ReadAll(*again), world.Job(), std::nullopt, true), std::string());
  }

  // Another file of the view stays open, so a file that is closed and opened again is the same one.
  void aFileOfAHeldViewKeepsItsInode() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto held = world.Open("jobs/a/full/optimizer.safetensors");
    const auto first = world.Find(kModelFile);
    world.tree.Release(*world.tree.Open(first->ino, world.now));
    QCOMPARE(world.Find(kModelFile)->ino, first->ino);
    VERIFY_OK(world.tree.Open(first->ino, world.now));
    QCOMPARE(world.source->num_pins(), 1);
    world.tree.Release(*held);
  }

  void aLayoutThatChangedBeforeTheOpenIsLookedUpAgain() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto old = world.Find(kModelFile);
    world.source->BeforeNextPin([&] { world.source->Reconfigure("a", LayoutOf("tp=4 on 1x4")); });
    VERIFY_ERROR(world.tree.Open(old->ino, world.now), ErrorCode::kFailedPrecondition,
                 "another layout");
    // After another change, a lookup finds what the view shows.
    const JobInfo pinned = world.Job();
    world.source->Reconfigure("a", LayoutOf("tp=1 on 1x1"));
    const auto handle = world.Open(kModelFile);
    VERIFY_OK(handle);
    QCOMPARE(world.source->num_pins(), 1);
    QCOMPARE(test::Judge(*world.ReadAll(*handle), pinned, std::nullopt, true), std::string());
    QCOMPARE(world.List("jobs/a/ranks"), std::string("0 1 2 3"));
    world.tree.Release(*handle);
    QCOMPARE(world.source->num_views(), 0);
  }

  void aViewThatNobodyLooksUpGoes() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto old = world.Find(kModelFile);
    world.source->Reconfigure("a", LayoutOf("tp=4 on 1x4"));
    QVERIFY(!world.tree.Open(old->ino, world.now));
    QCOMPARE(world.source->num_views(), 1);
    world.tree.Tick(world.now + milliseconds(1999));
    QCOMPARE(world.source->num_views(), 1);
    world.tree.Tick(world.now + milliseconds(2000));
    QCOMPARE(world.source->num_views(), 0);
  }

  void aReaderIsNotDisturbedByReconfigurations() {
    World world(LayoutOf("tp=2 on 1x2"));
    const JobInfo before = world.Job();
    const auto handle = world.Open("jobs/a/ranks/0/model.safetensors");
    for (const char* mesh : {"tp=4 on 1x4", "tp=1 on 1x1", "tp=8 on 2x4"}) {
      world.source->Reconfigure("a", LayoutOf(mesh));
      world.source->Step("a");
      world.Later();
      QCOMPARE(test::Judge(*world.ReadAll(*handle), before, 0, true), std::string());
    }
    world.source->Remove("a");
    world.Later();
    QCOMPARE(test::Judge(*world.ReadAll(*handle), before, 0, true), std::string());
    QCOMPARE(world.List("jobs"), std::string("a"));
    world.tree.Release(*handle);
    QCOMPARE(world.List("jobs"), std::string());
  }

  void errorsOfTheSourceComeThrough() {
    World world(LayoutOf("tp=2 on 1x2"));
    const auto file = world.Find(kModelFile);
    world.source->FailPins(ResourceExhausted("views hold 1073741824 bytes of 1073741824"));
    VERIFY_ERROR(world.tree.Open(file->ino, world.now), ErrorCode::kResourceExhausted,
                 "1073741824");
    world.source->FailPins(std::nullopt);
    VERIFY_OK(world.tree.Open(file->ino, world.now));
    world.source->FailJobs(Unavailable("cannot reach tcp://n0"));
    world.Later();
    const auto jobs = world.tree.Lookup(kRootIno, "jobs", world.now);
    VERIFY_OK(jobs);
    VERIFY_ERROR(world.tree.OpenFolder(jobs->ino, world.now), ErrorCode::kUnavailable, "tcp://n0");
  }

  void wrongNumbersAreErrors() {
    World world(LayoutOf("tp=2 on 1x2"));
    std::vector<std::byte> room(10);
    VERIFY_ERROR(world.tree.Attr(99), ErrorCode::kFailedPrecondition, "99");
    VERIFY_ERROR(world.tree.Lookup(99, "x", world.now), ErrorCode::kFailedPrecondition, "99");
    VERIFY_ERROR(world.tree.Open(99, world.now), ErrorCode::kFailedPrecondition, "99");
    VERIFY_ERROR(world.tree.Open(kRootIno, world.now), ErrorCode::kInvalidArgument, "folder");
    VERIFY_ERROR(world.tree.OpenFolder(world.Find("jobs/a/step")->ino, world.now),
                 ErrorCode::kInvalidArgument, "not a folder");
    VERIFY_ERROR(world.tree.Read(99, 0, room), ErrorCode::kInvalidArgument, "99");
    const auto handle = world.Open(kModelFile);
    VERIFY_ERROR(world.tree.Read(*handle, -1, room), ErrorCode::kInvalidArgument, "-1");
    QVERIFY(world.tree.Read(*handle, INT64_MAX, room)->fragments.empty());
    QVERIFY(world.tree.Entry(99, 0) == nullptr);
  }

  void whatIsForgottenIsGone() {
    World world(LayoutOf("tp=2 on 1x2"));
    std::map<Ino, std::uint64_t> told;
    const std::string_view names[] = {"jobs", "a", "full", "model.safetensors"};
    for (int i = 0; i < 3; ++i) {
      Ino at = kRootIno;
      for (const auto name : names) {
        at = world.tree.Lookup(at, name, world.now)->ino;
        ++told[at];
      }
      world.tree.Release(*world.tree.Open(at, world.now));
    }
    QCOMPARE(told.size(), 6U);  // three folders, a file a view
    for (const auto& [ino, count] : told) {
      world.tree.Forget(ino, count - 1);
      if (count > 1) VERIFY_OK(world.tree.Attr(ino));
      world.tree.Forget(ino, 1);
      QVERIFY(!world.tree.Attr(ino));
    }
    QCOMPARE(world.tree.usage().inodes, 1U);
    QCOMPARE(world.tree.usage().handles, 0U);
    QCOMPARE(world.tree.usage().views, 0U);
  }

  // A file has one step and one layout, whatever the job does meanwhile.
  void manyReadersOfAJobThatChanges() {
    std::mt19937_64 rng(test::Seed());
    const auto history = test::AnyHistory(rng, 6);
    World world(history.front());
    std::atomic<bool> done = false;
    std::atomic<int> judged = 0;
    std::mutex mutex;
    std::string wrong;
    const auto reader = [&](std::uint64_t seed) {
      std::mt19937_64 mine(seed);
      while (!done) {
        const auto now = std::chrono::steady_clock::now();
        Ino at = kRootIno;
        const bool whole = mine() % 2 == 0;
        const std::string folder = whole ? "full" : "ranks";
        Result<Tree::Attributes> found = Tree::Attributes{};
        for (const std::string name :
             {"jobs", "a", whole ? "full" : "ranks", "0", "model.safetensors"}) {
          if (whole && name == "0") continue;
          found = world.tree.Lookup(at, name, now);
          if (!found) break;
          at = found->ino;
        }
        if (!found) continue;
        const auto handle = world.tree.Open(at, now);
        if (!handle && handle.error().code == ErrorCode::kFailedPrecondition) continue;
        if (!handle) return;
        const auto bytes = world.ReadAll(*handle);
        world.tree.Release(*handle);
        if (!bytes || std::ssize(*bytes) != found->size) {
          const std::lock_guard lock(mutex);
          wrong = bytes ? "another size than looked up" : bytes.error().ToString();
          return;
        }
        // The file names its version, against which every element is checked.
        JobInfo job = test::AnyJobInfo("a", history.front());
        const auto number = [&](std::string_view key) {
          const auto begin = bytes->find(key) + key.size();
          return std::stoll(bytes->substr(begin, 20));
        };
        job.epoch = number("\"tessera.epoch\":\"");
        job.step = number("\"tessera.step\":\"");
        job.layout = history[static_cast<std::size_t>(job.epoch - 1) % history.size()];
        auto says = test::Judge(*bytes, job, whole ? std::nullopt : std::optional(0), true);
        ++judged;
        if (says.empty()) continue;
        const std::lock_guard lock(mutex);
        wrong = std::move(says);
      }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(reader, rng());
    for (std::size_t i = 1; i < 200; ++i) {
      std::this_thread::sleep_for(milliseconds(2));
      world.source->Step("a");
      if (i % 5 == 0) world.source->Reconfigure("a", history[(i / 5) % history.size()]);
    }
    done = true;
    threads.clear();
    QVERIFY2(wrong.empty(), wrong.c_str());
    QVERIFY(judged > 20);
    QCOMPARE(world.tree.usage().handles, 0U);
    world.tree.Tick(std::chrono::steady_clock::now() + std::chrono::seconds(10));
    QCOMPARE(world.source->num_views(), 0);
  }
};

TESSERA_TEST_APPLESS(VfsTreeTest)
#include "vfs_tree_test.moc"
