// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trainer and the file tree provide the same samples: in every step, also across
/// reconfigurations, the files data/R hold the samples that the ranks train on, for every format.
/// The files are parsed here without the code that made them.

#include <QTemporaryDir>
#include <QTest>
#include <cstring>
#include <random>
#include <thread>

#include "agents/data/job_data.h"
#include "agents/data/job_samples.h"
#include "agents/train/batch_reader.h"
#include "engine/vfs/tree.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/engine/vfs/tree_walk.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::vfs::Tree;
using Tokens = std::vector<std::int32_t>;

namespace {

constexpr std::int64_t kSequence = 16;
constexpr std::size_t kWindow = kSequence + 1;

/// Files of a format in a folder. Every record contains its number.
void WriteSome(const std::string& format, const std::string& folder, std::mt19937_64& rng) {
  std::string bytes;
  if (format == "text" || format == "mixed")
    test::WriteBytes(folder + "/a.txt", test::SomeLetters(rng, 700));
  if (format == "megatron") {
    for (int i = 0; i < 900; ++i) bytes += test::Raw(static_cast<std::uint16_t>(rng() % 256));
    test::WriteBytes(folder + "/m.bin", bytes);
    test::WriteBytes(folder + "/m.idx", test::MegatronIdx({400, 500}, 8, 2));
  }
  if (format == "tfrecord" || format == "mixed") {
    for (int i = 0; i < 50; ++i) {
      bytes += test::TfRecordFrame(std::to_string(i) + "-" + test::SomeLetters(rng, rng() % 30));
    }
    test::WriteBytes(folder + "/r.tfrecord", bytes);
  }
  if (format == "tar") {
    for (const char* shard : {"/0.tar", "/1.tar"}) {  // with the same names
      bytes.clear();
      for (int i = 0; i < 20; ++i) {
        const std::string name = "d/" + std::to_string(i);
        bytes += test::TarMemberBytes(name + ".cls", "7") +
                 test::TarMemberBytes(name + ".txt", test::SomeLetters(rng, 1 + rng() % 700));
      }
      test::WriteBytes(folder + shard, bytes + test::TarEnd());
    }
  }
}

template <typename Number>
Number NumberAt(const std::string& bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

void AppendBytes(const std::string& data, Tokens& tokens) {
  for (std::size_t i = 0; i < kWindow; ++i) {
    tokens.push_back(i < data.size() ? static_cast<unsigned char>(data[i]) : 0);
  }
}

/// The tokens that a trainer reads from a file, one sample after the other.
Tokens TokensOf(const std::string& file, const std::string& format) {
  Tokens tokens;
  if (format == "text") {
    for (const char c : file) tokens.push_back(static_cast<unsigned char>(c));
  } else if (format == "megatron") {
    for (std::size_t at = 0; at < file.size(); at += 2) {
      tokens.push_back(NumberAt<std::uint16_t>(file, at));
    }
  } else if (format == "mixed") {
    for (std::size_t at = 0; at < file.size(); at += 4) {
      tokens.push_back(NumberAt<std::int32_t>(file, at));
    }
  } else if (format == "tfrecord") {
    for (std::size_t at = 0; at < file.size();) {
      const auto size = NumberAt<std::uint64_t>(file, at);
      AppendBytes(file.substr(at + 12, size), tokens);
      at += 12 + size + 4;
    }
  } else {
    for (std::size_t at = 0; file[at] != 0;) {
      const std::string name = file.substr(at, 100).c_str();
      const std::size_t size = std::stoull(file.substr(at + 124, 11), nullptr, 8);
      if (name.ends_with(".txt")) AppendBytes(file.substr(at + 512, size), tokens);
      at += 512 + (size + 511) / 512 * 512;
    }
  }
  return tokens;
}

ptc::Layout LayoutOf(int dp) {
  const ptc::TensorSpec b{.name = "b", .dtype = ptc::DType::kF32, .shape = {}};
  const std::string mesh = "dp=" + std::to_string(dp) + " on 1x" + std::to_string(dp);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({b}, 1));
}

}  // namespace

class TrainFilesTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_home;

  static engine::JobSettings jobOn(const std::string& folder) {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    settings.model.sequence = kSequence;
    settings.seed = 11;
    settings.data = {folder};
    return settings;
  }
  static engine::vfs::JobInfo infoOf(const engine::JobSettings& settings, int dp) {
    auto info = test::AnyJobInfo("a", LayoutOf(dp));
    info.step = 0;
    info.settings_json = engine::ToJson(settings);
    info.has_data = true;
    return info;
  }

 private slots:
  void initTestCase() { qputenv("TESSERA_HOME", m_home.path().toUtf8()); }

  void ranksTrainOnWhatTheFilesHold_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("ending");
    QTest::newRow("text") << "text"
                          << ".txt";
    QTest::newRow("Megatron") << "megatron"
                              << ".bin";
    QTest::newRow("TFRecord") << "tfrecord"
                              << ".tfrecord";
    QTest::newRow("tar") << "tar"
                         << ".tar";
    QTest::newRow("text and TFRecord") << "mixed"
                                       << ".bin";
  }
  void ranksTrainOnWhatTheFilesHold() {
    QFETCH(QString, format);
    QFETCH(QString, ending);
    std::mt19937_64 rng(test::Seed());
    const std::string folder = m_home.filePath(format).toStdString();
    WriteSome(format.toStdString(), folder, rng);
    engine::JobSettings settings = jobOn(folder);
    settings.global_batch = static_cast<std::int64_t>(1 + rng() % 24);
    const auto trained = agents::OpenJobData(settings);
    VERIFY_OK(trained);

    const auto most = static_cast<std::uint64_t>(std::min<std::int64_t>(settings.global_batch, 7));
    int dp = static_cast<int>(1 + rng() % most);
    auto source = std::make_shared<test::FakeSource>();
    source->Put(infoOf(settings, dp));
    engine::vfs::Time now{};
    Tree tree(source, now, {.samples = agents::MakeJobSamples()});

    engine::Cursor cursor{.seed = settings.seed};  // as the trainer moves it
    for (int step = 0; step < 30; ++step) {
      Tokens all;
      for (int rank = 0; rank < dp; ++rank) {
        const auto batch = agents::train::ReadBatch(
            *trained, settings.model,
            {cursor, engine::ShareOfBatch(settings.global_batch, rank, dp)});
        VERIFY_OK(batch);
        const auto path =
            QStringLiteral("jobs/a/data/%1/%2").arg(rank).arg(step, 8, 10, QLatin1Char('0'));
        const auto file = test::ReadPath(tree, (path + ending).toStdString(), now);
        VERIFY_OK(file);
        QVERIFY2(TokensOf(*file, format.toStdString()) == batch->tokens,
                 qPrintable(QStringLiteral("step %1, rank %2 of %3").arg(step).arg(rank).arg(dp)));
        all.insert(all.end(), batch->tokens.begin(), batch->tokens.end());
      }
      const auto whole =
          agents::train::ReadBatch(*trained, settings.model, {cursor, {0, settings.global_batch}});
      QVERIFY(all == whole->tokens);
      cursor = engine::Advance(cursor, settings.global_batch, trained->num_samples());
      source->Step("a");
      if (rng() % 3 == 0) {
        dp = static_cast<int>(1 + rng() % most);
        source->Reconfigure("a", LayoutOf(dp));
      }
      now += std::chrono::seconds(1);
      QCOMPARE(test::ListPath(tree, "jobs/a/data", now)->size(), static_cast<std::size_t>(dp));
    }
  }

  // The error names file and byte, and disappears when the file is repaired.
  void dataThatComeBack() {
    std::mt19937_64 rng(test::Seed());
    const std::string folder = m_home.filePath("back").toStdString();
    engine::JobSettings settings = jobOn(folder);
    settings.global_batch = 2;
    auto source = std::make_shared<test::FakeSource>();
    source->Put(infoOf(settings, 1));
    engine::vfs::Time now{};
    Tree tree(source, now,
              {.samples = agents::MakeJobSamples({.pause = std::chrono::milliseconds(50)})});
    const auto read = [&] { return test::ReadPath(tree, "jobs/a/data/0/00000000.tfrecord", now); };
    VERIFY_ERROR(read(), ErrorCode::kDataLoss, folder + "' does not exist");

    WriteSome("tfrecord", folder, rng);
    const std::string path = folder + "/r.tfrecord";
    QTRY_VERIFY(read().has_value());  // tried again after a pause
    const auto good = read();
    VERIFY_OK(good);
    // The file changes under the mount: samples that were read before are still shown, others are
    // not.
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadWrite));
    const QByteArray bytes = file.readAll();
    QVERIFY(file.resize(10));
    file.close();
    QVERIFY(*read() == *good);
    const auto next = [&] { return test::ReadPath(tree, "jobs/a/data/0/00000001.tfrecord", now); };
    VERIFY_ERROR(next(), ErrorCode::kDataLoss, path + "'");
    QTRY_VERIFY(next().error().message.find("data file '" + path + "' at byte 0: ") !=
                std::string::npos);
    test::WriteBytes(path, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
    QTRY_VERIFY(next().has_value());
    QVERIFY(*read() == *good);
  }

  void jobsOfTheSameDataShareThem() {
    std::mt19937_64 rng(test::Seed());
    const std::string folder = m_home.filePath("shared").toStdString();
    WriteSome("text", folder, rng);
    const auto samples = agents::MakeJobSamples();
    auto job = infoOf(jobOn(folder), 1);
    const auto first = samples->Open(job), again = samples->Open(job);
    VERIFY_OK(first);
    QVERIFY(*first == *again);
    engine::JobSettings other = jobOn(folder);
    other.seed = 12;
    QVERIFY(*samples->Open(infoOf(other, 1)) != *first);
    QCOMPARE((*samples->Open(infoOf(other, 1)))->seed, std::int64_t{12});
    job.settings_json = "{";
    QVERIFY(!samples->Open(job));
    samples->Stop();
    VERIFY_ERROR(samples->Open(infoOf(jobOn(folder + "/none"), 1)), ErrorCode::kCancelled, "");
    QVERIFY(*samples->Open(infoOf(jobOn(folder), 1)) == *first);
  }
};

TESSERA_TEST(TrainFilesTest)
#include "train_files_test.moc"
