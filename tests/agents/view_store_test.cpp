// SPDX-License-Identifier: Apache-2.0
#include "agents/views/view_store.h"

#include <QTest>
#include <atomic>
#include <barrier>
#include <cstring>
#include <future>
#include <thread>

#include "engine/store/allocate.h"
#include "tests/engine/cells.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

constexpr char kJob[] = "job";
constexpr std::int64_t kEpoch = 1;

ptc::Layout MakeLayout() {
  ptc::TensorSpec cut;
  cut.name = "cut";
  cut.shape = {16, 24};
  cut.rule.dims = {{}, {.axes = {ptc::Axis::kTp}}};
  ptc::TensorSpec replicated;
  replicated.name = "replicated";
  replicated.dtype = ptc::DType::kBF16;
  replicated.shape = {40};
  ptc::TensorSpec step;
  step.name = "step";
  step.dtype = ptc::DType::kI64;
  step.role = ptc::TensorRole::kScalar;
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3"),
                            *ptc::Collection::Make({cut, replicated, step}, 1));
}

/// The value of byte `byte` of element `index` of the uncut tensor after `step`.
std::byte ByteOf(std::int64_t step, int tensor, std::int64_t index, std::int64_t byte) {
  return static_cast<std::byte>(step * 131 + tensor * 17 + index * 7 + byte);
}

/// Fills row-major memory of `box` with the state after `step`, or counts the differing bytes.
template <typename Visit>
void ForEachByte(const ptc::Layout& layout, int tensor, const ptc::Box& box, Visit visit) {
  const ptc::TensorSpec& spec = layout.collection().tensors()[static_cast<std::size_t>(tensor)];
  const ptc::Box whole = *ptc::Box::Whole(spec.shape);
  const std::int64_t size = ptc::SizeBytes(spec.dtype);
  std::int64_t at = 0;
  test::ForEachElement(box, [&](const std::vector<std::int64_t>& coordinates) {
    const std::int64_t index = test::IndexIn(whole, coordinates);
    for (std::int64_t b = 0; b < size; ++b) visit(at++, index, b);
  });
}

/// Four devices, each with a training thread that computes, waits for the others and updates in
/// place.
class Training {
 public:
  explicit Training(const ptc::Layout& layout) : layout_(layout), meeting_(4) {
    for (int rank = 0; rank < 4; ++rank) {
      const std::int64_t capacity = static_cast<std::int64_t>(engine::kArenaDataOffset) + (1 << 16);
      const int fd = *engine::Arena::CreateMemfd("test", capacity);
      arenas_.push_back(*engine::Arena::Map(fd, true));
      ::close(fd);
      tables_.push_back(*engine::AllocateInitial(kJob, kEpoch, layout, rank, capacity));
      arenas_.back().header().epoch.store(kEpoch);
      Write(rank, 0);
    }
  }
  ~Training() { Stop(); }

  void Start() {
    for (int rank = 0; rank < 4; ++rank) {
      threads_.emplace_back([this, rank] { Run(rank); });
    }
  }
  /// \return the step after which all are paused
  std::int64_t Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return step();
  }
  std::int64_t step() const { return static_cast<std::int64_t>(header(0).end.load()); }
  engine::ArenaHeader& header(int rank) const {
    return arenas_[static_cast<std::size_t>(rank)].header();
  }
  bool IsHeld() const {
    bool held = false;
    for (int rank = 0; rank < 4; ++rank) held = held || header(rank).hold.load() != 0;
    return held;
  }

  ViewTask Task(std::uint64_t view, std::int64_t step, std::chrono::milliseconds patience = 20s) {
    ViewTask task{kJob, layout_, plan_, {}, {}, Loop::Now() + patience};
    task.stamp = {view, kEpoch, 0, step, layout_.hash(), plan_->hash(), 0};
    for (int rank = 0; rank < 4; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      task.sources.push_back({{0, rank}, &arenas_[r], tables_[r]});
    }
    return task;
  }
  const engine::ViewPlan& plan() const { return *plan_; }

 private:
  void Write(int rank, std::int64_t step) {
    const auto r = static_cast<std::size_t>(rank);
    for (const engine::PieceEntry& entry : tables_[r].entries()) {
      if (entry.kind != engine::PieceEntry::kState) continue;
      std::byte* const data = arenas_[r].AddressOf(entry.offset_bytes);
      ForEachByte(layout_, entry.tensor, entry.box,
                  [&](std::int64_t at, std::int64_t index, std::int64_t byte) {
                    data[at] = ByteOf(step, entry.tensor, index, byte);
                  });
    }
  }

  // As in the rank library.
  void Run(int rank) {
    engine::ArenaHeader& header = this->header(rank);
    for (std::uint64_t step = 1;; ++step) {
      std::this_thread::sleep_for(200us);
      if (rank == 0) last_ = stop_.load();
      meeting_.arrive_and_wait();
      if (last_) return;
      meeting_.arrive_and_wait();
      const auto held = [&] {
        const std::uint64_t hold = header.hold.load();
        return hold != 0 && step >= hold;
      };
      const std::uint64_t before = header.begin.load();
      while (true) {
        while (held()) std::this_thread::sleep_for(50us);
        header.begin.store(step);
        if (!held()) break;
        header.begin.store(before);
      }
      std::atomic_thread_fence(std::memory_order_seq_cst);
      Write(rank, static_cast<std::int64_t>(step));
      header.end.store(step, std::memory_order_release);
    }
  }

  const ptc::Layout layout_;
  const std::shared_ptr<const engine::ViewPlan> plan_ =
      std::make_shared<const engine::ViewPlan>(layout_);
  std::vector<engine::Arena> arenas_;
  std::vector<engine::PieceTable> tables_;
  std::barrier<> meeting_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> last_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

class ViewStoreTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_loop = std::make_unique<Loop>();
    m_store = std::make_unique<ViewStore>(*m_loop, 60s);
    m_thread = std::thread([this] { m_loop->Run(); });
    m_training = std::make_unique<Training>(m_layout);
  }
  void cleanup() {
    m_loop->Stop();
    m_thread.join();
    m_store.reset();
    m_training.reset();
    m_loop.reset();
  }

  void fiftyViewsOfATrainingJobShowOneStepEach() {
    m_training->Start();
    int too_late = 0;
    std::int64_t previous = -1;
    for (std::uint64_t view = 1; view <= 50;) {
      const std::int64_t step = m_training->step() + 2;
      const auto outcome = take(m_training->Task(view, step));
      if (const auto* late = std::get_if<ViewStore::TooLate>(&outcome)) {
        QVERIFY(late->step > step);
        QVERIFY(++too_late < 1000);
        continue;
      }
      QVERIFY2(std::holds_alternative<ViewStore::Taken>(outcome), textOf(outcome));
      QCOMPARE(numWrong(view, step), 0);
      QVERIFY(step > previous);
      previous = step;
      release(view);
      ++view;
    }
    qInfo("asked too late %d times", too_late);
    QVERIFY(!m_training->IsHeld());
    QTRY_VERIFY(m_training->step() > previous + 5);  // the job continues
    QCOMPARE(size(), 0);
  }

  void aViewStaysWhileTheJobGoesOn() {
    m_training->Start();
    const std::int64_t step = caught(1);
    QTRY_VERIFY(m_training->step() > step + 20);
    QCOMPARE(numWrong(1, step), 0);
    QCOMPARE(size(), m_training->plan().total_bytes());
  }

  void aStepThatIsOverIsTooLate() {
    m_training->Start();
    QTRY_VERIFY(m_training->step() > 10);
    const auto outcome = take(m_training->Task(1, 5));
    const auto* late = std::get_if<ViewStore::TooLate>(&outcome);
    QVERIFY(late);
    QVERIFY(late->step > 5);
    QVERIFY(!m_training->IsHeld());
  }

  void aPausedJobIsViewedWhereItStands() {
    m_training->Start();
    QTRY_VERIFY(m_training->step() > 3);
    const std::int64_t step = m_training->Stop();
    const auto ahead = take(m_training->Task(1, step + 2), step);
    QVERIFY(std::holds_alternative<ViewStore::Paused>(ahead));
    QCOMPARE(std::get<ViewStore::Paused>(ahead).step, step);
    const auto there = take(m_training->Task(2, step), step);
    QVERIFY2(std::holds_alternative<ViewStore::Taken>(there), textOf(there));
    QCOMPARE(numWrong(2, step), 0);
  }

  void aPauseBeforeTheStepIsTold() {
    const auto outcome = start(m_training->Task(1, 4));  // no thread trains
    onLoop([&] { m_store->OnPaused("another", 0); });
    onLoop([&] { m_store->OnPaused(kJob, 4); });  // the requested step is not later than this one
    // The answer names the step of the pause that caused it.
    onLoop([&] { m_store->OnPaused(kJob, 2); });
    const auto told = outcome->future.get();
    QVERIFY(std::holds_alternative<ViewStore::Paused>(told));
    QCOMPARE(std::get<ViewStore::Paused>(told).step, 2);
    QVERIFY(!m_training->IsHeld());
    QCOMPARE(size(), 0);
  }

  void aStepThatDoesNotComeNamesTheDevice() {
    m_training->header(2).end.store(0);
    for (const int rank : {0, 1, 3}) {
      m_training->header(rank).begin.store(1);
      m_training->header(rank).end.store(1);
    }
    const auto outcome = take(m_training->Task(1, 1, 50ms));
    const auto* error = std::get_if<Error>(&outcome);
    QVERIFY(error);
    QCOMPARE(error->code, ErrorCode::kTimeout);
    QVERIFY2(error->message.find("n0g2 of 'job' is after step 0: step 1") != std::string::npos,
             error->message.c_str());
    QVERIFY(!m_training->IsHeld());
    QCOMPARE(size(), 0);
  }

  void anotherEpochIsNotCopied() {
    m_training->header(1).epoch.store(2);
    const auto outcome = take(m_training->Task(1, 0));
    const auto* error = std::get_if<Error>(&outcome);
    QVERIFY(error);
    QCOMPARE(error->code, ErrorCode::kDataLoss);
    QVERIFY(!m_training->IsHeld());
  }

  void whatIsGivenUpLetsTheJobGoOn_data() {
    QTest::addColumn<int>("how");
    QTest::newRow("for a transaction") << 0;
    QTest::newRow("on request") << 1;
    QTest::newRow("with the job") << 2;
    QTest::newRow("for a newer view") << 3;
  }
  void whatIsGivenUpLetsTheJobGoOn() {
    QFETCH(int, how);
    const auto outcome = start(m_training->Task(1, 3));
    QTRY_VERIFY(m_training->IsHeld());
    onLoop([&] {
      if (how == 0) m_store->GiveUp(kJob);
      if (how == 1) m_store->Release(1);
      if (how == 2) m_store->Forget(kJob);
    });
    if (how == 3) {
      QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(2, 0))));
      QCOMPARE(size(), m_training->plan().total_bytes());
    } else {
      QCOMPARE(size(), 0);
    }
    QVERIFY(!m_training->IsHeld());
    onLoop([] {});  // runs after the result that the cancelled copy has posted
    QCOMPARE(outcome->future.wait_for(0ms), std::future_status::timeout);
  }

  void completeViewsOutliveATransactionAndEndWithTheJob() {
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(1, 0))));
    onLoop([&] { m_store->GiveUp(kJob); });
    QCOMPARE(numWrong(1, 0), 0);
    onLoop([&] { m_store->Forget(kJob); });
    QCOMPARE(size(), 0);
  }

  void aViewEndsWithItsLease() {
    shortenLease();
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(1, 0))));
    for (int i = 0; i < 20; ++i) {  // twice the lease
      QTest::qSleep(100);
      onLoop([&] {
        m_store->Keep(1);
        m_store->Keep(77);
      });
    }
    QCOMPARE(size(), m_training->plan().total_bytes());
    QTRY_COMPARE_WITH_TIMEOUT(size(), 0, 20'000);
    const auto gone = resolve(1, 0);
    QVERIFY(!gone);
    QCOMPARE(gone.error().code, ErrorCode::kNotFound);
    QVERIFY(gone.error().message.find("0000000000000001") != std::string::npos);
  }

  // The last reader of a view frees its memory, on a separate thread.
  void whatIsLetGoOfEnds_data() {
    QTest::addColumn<int>("how");
    QTest::newRow("on request") << 0;
    QTest::newRow("with its job") << 1;
    QTest::newRow("with its lease") << 2;
  }
  void whatIsLetGoOfEnds() {
    QFETCH(int, how);
    if (how == 2) shortenLease();
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(1, 0))));
    auto cell = resolve(1, 0);
    QVERIFY(cell.has_value());
    const std::weak_ptr<const void> memory = cell->keep_alive;
    if (how == 0) release(1);
    if (how == 1) onLoop([&] { m_store->Forget(kJob); });
    QTRY_COMPARE_WITH_TIMEOUT(size(), 0, 20'000);
    // Views are freed in the order of their release.
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(2, 0))));
    const std::weak_ptr<const void> next = resolve(2, 0)->keep_alive;
    release(2);
    QTRY_VERIFY(next.expired());
    QVERIFY(!memory.expired());  // a reader holds it
    cell->keep_alive.reset();
    QVERIFY(memory.expired());
  }

  void cellsThatAreNotThereAreNamed() {
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(1, 0))));
    const auto& tensors = m_layout.collection().tensors();
    const auto past = static_cast<std::int32_t>(std::ssize(tensors));
    const ptc::Box far =
        *ptc::Box::Make(std::vector<ptc::Interval>(tensors[0].shape.size(), {1 << 20, 1 << 21}));
    const ptc::Box deep =
        *ptc::Box::Make(std::vector<ptc::Interval>(tensors[0].shape.size() + 1, {0, 1}));
    for (const LaneCell& cell :
         {LaneCell{0, past, far}, LaneCell{0, 0, far}, LaneCell{0, 0, deep}}) {
      const auto found = m_store->Resolve(1, cell);
      QVERIFY(!found);
      QCOMPARE(found.error().code, ErrorCode::kNotFound);
      QVERIFY(found.error().message.find(ToString(cell)) != std::string::npos);
    }
  }

  // A reader asks for the box that it wants, which is packed for it.
  void aBoxInsideACellIsServed() {
    QVERIFY(std::holds_alternative<ViewStore::Taken>(take(m_training->Task(1, 0))));
    for (const engine::ViewCell& cell : m_training->plan().cells()) {
      std::vector<ptc::Interval> dims;
      for (int d = 0; d < cell.box.rank(); ++d) {
        dims.push_back({cell.box[d].begin + cell.box[d].size() / 2, cell.box[d].end});
      }
      const ptc::Box half = *ptc::Box::Make(dims);
      const auto found = m_store->Resolve(1, {0, cell.tensor, half});
      QVERIFY(found.has_value());
      std::vector<std::byte> bytes(static_cast<std::size_t>(found->cell.size_bytes()));
      QVERIFY(found->cell.Pack(0, bytes).has_value());
      int wrong = 0;
      ForEachByte(
          m_layout, cell.tensor, half, [&](std::int64_t at, std::int64_t index, std::int64_t byte) {
            wrong +=
                bytes[static_cast<std::size_t>(at)] != ByteOf(0, cell.tensor, index, byte) ? 1 : 0;
          });
      QCOMPARE(wrong, 0);
    }
  }

 private:
  struct Answer {
    std::promise<ViewStore::Outcome> promise;
    std::future<ViewStore::Outcome> future = promise.get_future();
  };

  void onLoop(const std::function<void()>& task) {
    std::promise<void> done;
    m_loop->Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }
  /// Views end after a second unless they are kept. Other tests may be held up for longer.
  void shortenLease() {
    onLoop([this] { m_store = std::make_unique<ViewStore>(*m_loop, 1s); });
  }
  std::shared_ptr<Answer> start(ViewTask task, std::optional<std::int64_t> paused = {}) {
    auto answer = std::make_shared<Answer>();
    onLoop([&] {
      m_store->Take(std::move(task), paused, [answer](const ViewStore::Outcome& outcome) {
        answer->promise.set_value(outcome);
      });
    });
    return answer;
  }
  ViewStore::Outcome take(ViewTask task, std::optional<std::int64_t> paused = {}) {
    return start(std::move(task), paused)->future.get();
  }
  /// Takes a view of the training job.
  /// \return its step
  std::int64_t caught(std::uint64_t view) {
    for (;;) {
      const std::int64_t step = m_training->step() + 2;
      if (std::holds_alternative<ViewStore::Taken>(take(m_training->Task(view, step)))) return step;
    }
  }
  void release(std::uint64_t view) {
    onLoop([&] { m_store->Release(view); });
  }
  std::int64_t size() {
    std::int64_t bytes = -1;
    onLoop([&] { bytes = m_store->size_bytes(); });
    return bytes;
  }
  Result<SourceCell> resolve(std::uint64_t view, std::size_t cell) const {
    const engine::ViewCell& named = m_training->plan().cells()[cell];
    return m_store->Resolve(view, {0, named.tensor, named.box});
  }
  /// Number of bytes of the view that are missing or differ from the state after `step`.
  int numWrong(std::uint64_t view, std::int64_t step) const {
    int wrong = 0;
    std::int64_t seen = 0;
    const auto& cells = m_training->plan().cells();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto source = resolve(view, i);
      if (!source) return -1;
      std::vector<std::byte> bytes(static_cast<std::size_t>(source->cell.size_bytes()));
      if (!source->cell.Pack(0, bytes)) return -1;
      seen += std::ssize(bytes);
      ForEachByte(m_layout, cells[i].tensor, cells[i].box,
                  [&](std::int64_t at, std::int64_t index, std::int64_t byte) {
                    wrong += bytes[static_cast<std::size_t>(at)] !=
                                     ByteOf(step, cells[i].tensor, index, byte)
                                 ? 1
                                 : 0;
                  });
    }
    return seen == m_layout.collection().total_bytes() ? wrong : -2;
  }
  static const char* textOf(const ViewStore::Outcome& outcome) {
    const auto* error = std::get_if<Error>(&outcome);
    return error ? error->message.c_str() : "another outcome";
  }

  const ptc::Layout m_layout = MakeLayout();
  std::unique_ptr<Loop> m_loop;
  std::unique_ptr<ViewStore> m_store;
  std::thread m_thread;
  std::unique_ptr<Training> m_training;
};
TESSERA_TEST_APPLESS(ViewStoreTest)
#include "view_store_test.moc"
