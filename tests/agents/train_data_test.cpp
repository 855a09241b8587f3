// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a trainer reads its data: it reads ahead, and reports before a step that it cannot read the
/// data of the next one.

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "agents/data/job_data.h"
#include "agents/job/decision.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents::train;

namespace {

constexpr std::int64_t kSequence = 4;

/// 20 samples of tokens 0 to 79, with switches.
class SwitchedData : public engine::Dataset {
 public:
  std::atomic<bool> fails = false;
  std::atomic<int> delay_ms = 0;
  std::atomic<bool> stands_still = false;  // while a read is under way
  std::atomic<int> reads = 0;
  std::vector<std::int64_t> order = {};  // of the samples that were read, one read at a time

  engine::DataFormat format() const override { return engine::DataFormat::kMegatron; }
  std::int64_t sequence() const override { return kSequence; }
  std::int64_t num_samples() const override { return 20; }
  std::uint64_t fingerprint() const override { return 1; }
  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    auto* self = const_cast<SwitchedData*>(this);
    ++self->reads;
    self->order.push_back(sample);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    while (stands_still) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (fails) return DataLoss("x.bin at byte 8: checksum differs");
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<std::int32_t>(sample * kSequence) + static_cast<std::int32_t>(i);
    }
    return OkStatus();
  }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t) const override {
    return Internal("no test reads records");
  }
  std::int64_t RecordBytes(std::int64_t) const override { return (kSequence + 1) * 4; }
  std::string Describe(std::int64_t sample) const override {
    return "x.bin at byte " + std::to_string(sample * kSequence * 4);
  }
};

engine::DataMix Single(engine::DatasetPtr data) {
  return *engine::DataMix::Make({{std::move(data), 0}});
}

engine::GptConfig Vocabulary(std::int64_t size) {
  engine::GptConfig config;
  config.name = "tiny";
  config.vocab = size;
  return config;
}

/// One process that trains a small model.
class Process {
 public:
  Process(const engine::JobSettings& settings, engine::DataMix data, DataAccess access = {})
      : layout_(*ptc::Layout::Make(*ptc::DeviceMesh::Make({}, {ptc::DeviceId{}}),
                                   *engine::MakeCollection(settings, false))),
        memory_(layout_, 0),
        trainer(settings, std::move(data), std::move(access)) {
    Initialise(settings, *BindState(memory_.pieces()));
    if (!trainer.Bind(memory_.pieces(), SelfGroups(), 0)) qFatal("does not bind");
  }

 private:
  const ptc::Layout layout_;
  const PrivateState memory_;

 public:
  Trainer trainer;
  std::vector<double> losses;

  /// One step. Returns why the job pauses after it.
  Result<std::uint64_t> Step() {
    TESSERA_TRY(const tessera_record record, trainer.ComputeGradients());
    const auto decision = agents::Decide(trainer.step() + 1, std::span(&record, 1), 1);
    losses.push_back(decision.loss);
    TESSERA_RETURN_IF_ERROR(trainer.PrepareUpdate(decision.clip, decision.skip != 0));
    trainer.CommitUpdate();
    return decision.pause;
  }
};

}  // namespace

class TrainDataTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;

  engine::JobSettings smallJob() const {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    settings.model.layers = 1;
    settings.model.sequence = kSequence;
    settings.global_batch = 8;
    return settings;
  }

 private slots:
  void tokensOutsideTheVocabularyAreNamed() {
    const engine::DataMix data = Single(std::make_shared<SwitchedData>());
    const BatchRequest whole{.cursor = {.seed = 1}, .share = {0, 20}};
    const auto fits = ReadBatch(data, Vocabulary(81), whole);
    QVERIFY(fits.has_value());
    QCOMPARE(fits->tokens.size(), std::size_t{20 * (kSequence + 1)});
    const auto exceeds = ReadBatch(data, Vocabulary(80), whole);  // the last target is 80
    QVERIFY(!exceeds);
    QCOMPARE(exceeds.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(exceeds.error().message,
             std::string("token 80 of sample 19 (x.bin at byte 304) is outside the vocabulary of "
                         "80 of tiny"));
  }

  void theLastRequestIsAnswered() {
    const auto data = std::make_shared<SwitchedData>();
    data->delay_ms = 2;
    BatchReader reader(std::make_shared<engine::DataMix>(Single(data)), Vocabulary(100));
    for (std::int64_t next = 0; next < 12; ++next) {
      reader.Start({.cursor = {.seed = 3, .pass = 0, .next = next}, .share = {0, 4}});
      if (next % 3 != 2) continue;
      const auto batch = reader.Wait();
      QVERIFY(batch.has_value());
      QCOMPARE(batch->request.cursor.next, next);
      const auto expected = ReadBatch(Single(data), Vocabulary(100), batch->request);
      QVERIFY(batch->tokens == expected->tokens);
    }
  }

  // A read that takes longer than the step delays it; a faster read does not.
  void readsWhileItComputes() {
    const auto data = std::make_shared<SwitchedData>();
    Process process(smallJob(), Single(data));
    QVERIFY(!process.trainer.HasBatch());
    QVERIFY(process.trainer.FetchBatch().has_value());
    QVERIFY(process.trainer.HasBatch());
    QCOMPARE(data->reads.load(), 8);
    data->delay_ms = 25;  // 200 ms per batch
    QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    QCOMPARE(data->reads.load(), 16);
    QVERIFY(process.trainer.HasBatch());
    const auto slow = process.trainer.data_wait();
    data->delay_ms = 0;
    QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    QCOMPARE(data->reads.load(), 24);
    QVERIFY(process.trainer.data_wait() < slow);
  }

  void nothingIsReadBeyondTheLastStep() {
    const auto data = std::make_shared<SwitchedData>();
    engine::JobSettings settings = smallJob();
    settings.max_steps = 2;
    Process process(settings, Single(data));
    QVERIFY(process.Step().has_value());
    QVERIFY(process.Step().has_value());
    QCOMPARE(data->reads.load(), 16);
  }

  // Step 3 fails to read the batch of step 4. Step 3 is still made and requests a pause, and step 4
  // does not begin until the data are readable. The losses equal those of an undisturbed run bit
  // for bit.
  void dataThatIsGoneStopsBeforeTheStep() {
    engine::JobSettings settings = smallJob();
    QFile text(m_folder.filePath("text"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    QByteArray bytes;
    for (int i = 0; i < 4000; ++i) bytes.append(static_cast<char>('a' + i * i % 23));
    text.write(bytes);
    text.close();
    settings.data = {text.fileName().toStdString()};

    Process undisturbed(settings, *agents::OpenJobData(settings));
    for (int i = 0; i < 6; ++i) QCOMPARE(undisturbed.Step().value_or(9), std::uint64_t{0});

    Process process(settings, *agents::OpenJobData(settings));
    for (int i = 0; i < 2; ++i) QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    QVERIFY(text.resize(0));
    QCOMPARE(process.Step().value_or(9), std::uint64_t{TESSERA_PAUSE_DATA});
    QCOMPARE(process.trainer.step(), std::int64_t{3});
    QVERIFY(!process.trainer.HasBatch());
    const QString problem = QString::fromStdString(process.trainer.data_problem());
    QVERIFY2(problem.contains(text.fileName()), qPrintable(problem));
    // A retry that comes too early.
    QVERIFY(!process.trainer.FetchBatch());
    QVERIFY(!process.trainer.ComputeGradients());
    QCOMPARE(process.trainer.step(), std::int64_t{3});

    // Different data of a different size are not accepted.
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(bytes.left(3000));
    text.close();
    const Status other = process.trainer.FetchBatch();
    QVERIFY(!other);
    QVERIFY2(other.error().message.starts_with("the data set changed"),
             other.error().message.c_str());

    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(bytes);
    text.close();
    QVERIFY(process.trainer.FetchBatch().has_value());
    QVERIFY(process.trainer.data_problem().empty());
    for (int i = 0; i < 3; ++i) QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    QVERIFY(process.losses == undisturbed.losses);
  }

  // A read does not end: the step requests a pause, which names the sample, and cancels the read.
  // The wait for an opening ends in the same way as that for a read.
  void readsThatStandStillPause() {
    const auto data = std::make_shared<SwitchedData>();
    std::atomic<int> opening_ms = 0;
    std::atomic<int> opened = 0;
    DataAccess access;
    access.patience = std::chrono::milliseconds(300);
    std::stop_token first = access.cancel.get_token();
    access.open = [&](std::stop_token cancel) -> Result<engine::DataMix> {
      ++opened;
      for (int ms = 0; ms < opening_ms && !cancel.stop_requested(); ms += 10) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (cancel.stop_requested()) return Cancelled("opening was cancelled");
      return Single(data);
    };
    Process process(smallJob(), Single(data), access);
    QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    data->stands_still = true;
    QCOMPARE(process.Step().value_or(9), std::uint64_t{TESSERA_PAUSE_DATA});  // the read continues
    QVERIFY(first.stop_requested());
    const QString problem = QString::fromStdString(process.trainer.data_problem());
    QVERIFY2(problem.contains("no batch after 0.3 s: reading sample") &&
                 problem.contains("(x.bin at byte "),
             qPrintable(problem));
    data->stands_still = false;
    opening_ms = 60000;
    QTRY_VERIFY_WITH_TIMEOUT(!process.trainer.FetchBatch() && opened > 0, 20000);
    QVERIFY2(process.trainer.data_problem().find("is not open yet") != std::string::npos,
             process.trainer.data_problem().c_str());
    opening_ms = 0;
    QTRY_VERIFY_WITH_TIMEOUT(process.trainer.FetchBatch().has_value(), 20000);
    QVERIFY(process.trainer.data_problem().empty());
    QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
  }

  // Counts the samples that were read, without those that were read ahead in vain.
  void aChangeReadsOnUnlessItIsWrongOnPurpose_data() {
    QTest::addColumn<QString>("at_change");
    QTest::addColumn<QList<int>>("reads_of_samples");  // never, once, twice
    QTest::newRow("right") << "keep" << QList<int>{0, 20, 0};
    QTest::newRow("wrong") << "lose_position" << QList<int>{8, 4, 8};
  }
  void aChangeReadsOnUnlessItIsWrongOnPurpose() {
    QFETCH(QString, at_change);
    QFETCH(QList<int>, reads_of_samples);
    engine::JobSettings settings = smallJob();
    settings.global_batch = 4;  // 5 steps per pass
    QVERIFY(engine::ApplySetting(settings, "at_change", at_change.toStdString()).has_value());
    const auto data = std::make_shared<SwitchedData>();
    Process process(settings, Single(data));
    std::vector<int> reads(20, 0);
    for (int step = 1; step <= 5; ++step) {
      if (step == 3) {
        process.trainer.OnChange();
        if (!process.trainer.HasBatch()) QVERIFY(process.trainer.FetchBatch().has_value());
      }
      // The step uses the batch that was read for it last.
      QVERIFY(process.trainer.FetchBatch().has_value());
      for (std::size_t i = data->order.size() - 4; i < data->order.size(); ++i) {
        ++reads[static_cast<std::size_t>(data->order[i])];
      }
      QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    }
    for (int times = 0; times < 3; ++times) {
      QCOMPARE(std::count(reads.begin(), reads.end(), times), reads_of_samples[times]);
    }
  }

  // One rank of a job that began on two with 3 samples each.
  void aKeptDeviceBatchMovesTheCursorByTheRanks() {
    engine::JobSettings settings = smallJob();
    settings.global_batch = 6;
    settings.at_change = engine::AtChange::kKeepDeviceBatch;
    ptc::MeshShape two;
    two[ptc::Axis::kDp] = 2;
    QVERIFY(engine::NoteDeviceBatch(settings, two).has_value());
    const auto data = std::make_shared<SwitchedData>();
    Process process(settings, Single(data));
    process.trainer.OnChange();
    QCOMPARE(process.Step().value_or(9), std::uint64_t{0});
    QCOMPARE(data->reads.load(), 3 + 3);  // this step's samples, and the next step's read ahead
    const std::set<std::int64_t> seen(data->order.begin(), data->order.end());
    QCOMPARE(seen.size(), std::size_t{6});
  }

  // Another rank could not read its batch: the batch of this rank is dropped too, because its
  // source may be gone as well.
  void aDroppedBatchIsReadAgain() {
    const auto data = std::make_shared<SwitchedData>();
    int opened = 0;
    DataAccess access;
    access.open = [&](const std::stop_token&) -> Result<engine::DataMix> {
      ++opened;
      return Single(data);
    };
    Process process(smallJob(), Single(data), access);
    QVERIFY(process.Step().has_value());
    QVERIFY(process.trainer.HasBatch());
    process.trainer.DropBatch();
    QVERIFY(!process.trainer.HasBatch());
    QCOMPARE(data->reads.load(), 16);
    QVERIFY(process.Step().has_value());
    QCOMPARE(data->reads.load(), 32);
    QCOMPARE(opened, 1);
  }
};
TESSERA_TEST(TrainDataTest)
#include "train_data_test.moc"
