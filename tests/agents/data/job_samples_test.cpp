// SPDX-License-Identifier: Apache-2.0
/// \file
/// A server becomes silent, and the readers end: nothing waits for the deadline of a request.

#include "agents/data/job_samples.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <future>

#include "engine/model/gpt.h"
#include "tests/agents/data/http_server.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;

namespace {

constexpr std::int64_t kBytes = std::int64_t{24} << 20;
constexpr int kSilence = 60'000;  // ms, longer than any test

/// A job on a text of the server.
engine::vfs::JobInfo JobOn(const test::HttpServer& server) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  settings.data = {server.url("/text.txt")};
  auto info = test::AnyJobInfo("a", test::MatrixLayout("tp=1 on 1x1", 4, 4));
  info.settings_json = engine::ToJson(settings);
  info.has_data = true;
  return info;
}

}  // namespace

class JobSamplesTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_home;

 private slots:
  void init() { qputenv("TESSERA_HOME", m_home.path().toUtf8()); }

  void aReadEndsSoonAfterTheStop() {
    test::HttpServer server;
    server.Put("/text.txt", std::string(kBytes, 'x'));
    const auto samples = agents::MakeJobSamples();
    const auto opened = samples->Open(JobOn(server));
    VERIFY_OK(opened);
    const engine::DataMix& mix = (*opened)->mix;
    // Opening read the whole text for its fingerprint. Without the cache it must be fetched again.
    QVERIFY(QDir(m_home.filePath("cache/blocks")).removeRecursively());
    const int before = server.requests();
    server.delay_ms = kSilence;
    // Any sample whose bytes have not been fetched yet.
    auto read = std::async(std::launch::async, [&] {
      std::vector<std::int32_t> tokens(65);
      Status status;
      for (std::int64_t sample = mix.num_samples(); status && sample > 0;) {
        sample -= 1 + mix.num_samples() / 8;
        status = mix.ReadTokens({0, std::max<std::int64_t>(sample, 0)}, tokens);
      }
      return status;
    });
    QTRY_VERIFY_WITH_TIMEOUT(server.requests() > before, 5000);
    QElapsedTimer timer;
    timer.start();
    samples->Stop();
    VERIFY_ERROR(read.get(), ErrorCode::kCancelled, "/text.txt");
    QVERIFY2(timer.elapsed() < kSilence / 4, qPrintable(QString::number(timer.elapsed())));
  }

  void anOpeningEndsSoonAfterTheStop() {
    test::HttpServer server;
    server.Put("/text.txt", std::string(kBytes, 'x'));
    server.delay_ms = kSilence;
    auto samples = agents::MakeJobSamples();
    auto opened = std::async(std::launch::async, [&] { return samples->Open(JobOn(server)); });
    QTRY_VERIFY_WITH_TIMEOUT(server.requests() > 0, 5000);
    QElapsedTimer timer;
    timer.start();
    samples->Stop();
    VERIFY_ERROR(opened.get(), ErrorCode::kCancelled, "");
    samples.reset();  // waits for the thread that opens
    QVERIFY2(timer.elapsed() < kSilence / 4, qPrintable(QString::number(timer.elapsed())));
  }

  // The opening continues, and the next call returns its progress or the data.
  void aWaitIsNotForEver() {
    test::HttpServer server;
    server.Put("/text.txt", std::string(kBytes, 'x'));
    server.delay_ms = 100;
    const auto samples = agents::MakeJobSamples({.patience = std::chrono::milliseconds(50)});
    VERIFY_ERROR(samples->Open(JobOn(server)), ErrorCode::kTimeout, "are being opened");
    QTRY_VERIFY_WITH_TIMEOUT(samples->Open(JobOn(server)).has_value(), 10000);
  }
};

TESSERA_TEST(JobSamplesTest)
#include "job_samples_test.moc"
