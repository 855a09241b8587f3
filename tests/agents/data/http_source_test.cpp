// SPDX-License-Identifier: Apache-2.0
#include "agents/data/http_source.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <stop_token>
#include <thread>

#include "agents/data/data_places.h"
#include "agents/http/http_client.h"
#include "tests/agents/data/http_server.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using agents::HttpFiles;
using namespace std::chrono_literals;

namespace {

const agents::HttpOptions kQuick{.deadline = 5s, .first_pause = 5ms, .max_pause = 20ms};
const agents::HttpOptions kHasty{.deadline = 200ms, .first_pause = 5ms, .max_pause = 20ms};

std::string SomeBytes(std::size_t size) {
  std::mt19937_64 rng(test::Seed());
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng());
  return bytes;
}

struct Read {
  std::string bytes;
  Error error;
};
Read ReadAt(const engine::ByteSource& source, std::int64_t offset, std::size_t size) {
  std::vector<std::byte> out(size);
  const Status status = source.ReadAt(offset, out);
  return status ? Read{test::AsText(out), {}} : Read{{}, status.error()};
}

}  // namespace

class HttpSourceTest : public QObject {
  Q_OBJECT
 private slots:
  void rangesOverOneConnection() {
    test::HttpServer server;
    const std::string bytes = SomeBytes(100000);
    server.Put("a.bin", bytes);
    const auto source = HttpFiles(kQuick).Open(server.url("a.bin"));
    QVERIFY2(source.has_value(), source ? "" : source.error().ToString().c_str());
    QCOMPARE((*source)->size_bytes(), std::int64_t{100000});
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 50; ++i) {
      const std::size_t offset = rng() % bytes.size();
      const std::size_t size = rng() % (bytes.size() - offset + 1);
      QVERIFY(ReadAt(**source, static_cast<std::int64_t>(offset), size).bytes ==
              bytes.substr(offset, size));
    }
    QCOMPARE(server.connections(), 1);
  }

  void emptyFile() {
    test::HttpServer server;
    server.Put("empty", "");
    const auto source = HttpFiles(kQuick).Open(server.url("empty"));
    QVERIFY(source.has_value());
    QCOMPARE((*source)->size_bytes(), std::int64_t{0});
  }

  // A server may answer a range in part. The missing bytes are requested.
  void shorterAnswersAreContinued() {
    test::HttpServer server;
    const std::string bytes = SomeBytes(1000);
    server.Put("a", bytes);
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    QVERIFY(source.has_value());
    const int before = server.requests();
    server.most_bytes = 300;
    const Read read = ReadAt(**source, 50, 900);
    QVERIFY2(read.bytes == bytes.substr(50, 900), read.error.message.c_str());
    QCOMPARE(server.requests(), before + 3);
  }

  // The path of a URL determines the format. The query is a signature and is used for both files of
  // a pair.
  void signedPairsAreFound() {
    test::HttpServer server;
    std::string tokens(60, '\0');
    server.Put("m.idx", test::MegatronIdx({30}, 8, 2));
    server.Put("m.bin", tokens);
    for (const char* name : {"m.bin?sig=ab%2Fc", "m.idx?sig=a.bin"}) {
      const auto data = agents::OpenData({server.url(name)}, 4, {.http = kQuick});
      QVERIFY2(data.has_value(), data ? "" : data.error().ToString().c_str());
      QCOMPARE(data->parts().size(), std::size_t{1});
      QVERIFY(data->parts()[0].data->format() == engine::DataFormat::kMegatron);
    }
  }

  // A request to stop ends the wait for a silent server, and the pause before a retry.
  void waitingIsCancelled() {
    for (const bool is_silent : {true, false}) {
      test::HttpServer server;
      server.Put("a", "0123456789");
      std::stop_source stop;
      agents::HttpOptions options{.deadline = 60s, .first_pause = 30s, .max_pause = 30s};
      options.cancel = stop.get_token();
      const auto source = HttpFiles(options).Open(server.url("a"));
      QVERIFY(source.has_value());
      (is_silent ? server.delay_ms : server.unavailable_for) = 30'000;
      const int before = server.requests();
      const std::jthread stopper([&] {
        while (server.requests() == before) std::this_thread::sleep_for(1ms);
        stop.request_stop();
      });
      const Read read = ReadAt(**source, 0, 5);  // without the request it succeeds
      QCOMPARE(read.error.code, ErrorCode::kCancelled);
      const auto late = HttpFiles(options).Open(server.url("a"));
      QVERIFY(!late);
      QCOMPARE(late.error().code, ErrorCode::kCancelled);
    }
  }

  void serverThatIsBusyIsAskedAgain() {
    test::HttpServer server;
    server.Put("a", "0123456789");
    server.unavailable_for = 3;
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    QVERIFY(source.has_value());
    server.unavailable_for = 2;
    QCOMPARE(ReadAt(**source, 4, 3).bytes, std::string("456"));
    QCOMPARE(server.unavailable_for.load(), 0);
  }

  void deadlineEndsTheAttempts() {
    test::HttpServer server;
    server.Put("a", "0123456789");
    const auto source = HttpFiles(kHasty).Open(server.url("a"));
    server.status = 503;
    const auto start = std::chrono::steady_clock::now();
    const Error error = ReadAt(**source, 4, 3).error;
    QVERIFY(std::chrono::steady_clock::now() - start < 3s);
    QCOMPARE(error.code, ErrorCode::kUnavailable);
    const std::string begin =
        "data file '" + server.url("a") + "' at byte 4: the server answers 503 (";
    QVERIFY2(error.message.starts_with(begin), error.message.c_str());
  }

  void slowServerMeetsTheDeadline() {
    test::HttpServer server;
    server.Put("a", "0123456789");
    const auto source = HttpFiles(kHasty).Open(server.url("a"));
    QVERIFY(source.has_value());
    server.delay_ms = 600;
    QCOMPARE(ReadAt(**source, 0, 3).error.code, ErrorCode::kUnavailable);
  }

  void cutOffReadsGoOnWhereTheyEnded() {
    test::HttpServer server;
    const std::string bytes = SomeBytes(1000);
    server.Put("a", bytes);
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    server.cut_after = 300;
    server.cut_off_for = 3;
    const int before = server.requests();
    QVERIFY(ReadAt(**source, 0, 1000).bytes == bytes);
    QCOMPARE(server.requests() - before, 4);  // 300, 300, 300, 100
    QCOMPARE(server.cut_off_for.load(), 0);
  }

  void serverWithoutRangesIsRefusedAtOnce() {
    test::HttpServer server;
    server.Put("a", SomeBytes(5000));
    server.ignores_ranges = true;
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    QVERIFY(!source);
    QCOMPARE(source.error().code, ErrorCode::kFailedPrecondition);
    QCOMPARE(
        source.error().message,
        "data file '" + server.url("a") +
            "' at byte 0: the server answers 200 instead of 206: it cannot send parts of a file");
    server.ignores_ranges = false;
    const auto good = HttpFiles(kQuick).Open(server.url("a"));
    server.ignores_ranges = true;
    const int before = server.requests();
    QCOMPARE(ReadAt(**good, 7, 3).error.code, ErrorCode::kFailedPrecondition);
    QCOMPARE(server.requests() - before, 1);
  }

  void changedFileIsDataLoss() {
    test::HttpServer server;
    server.Put("a", "0123456789");
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    server.Put("a", "9876543210", "\"2\"");
    const Error etag = ReadAt(**source, 3, 2).error;
    QCOMPARE(etag.code, ErrorCode::kDataLoss);
    QCOMPARE(etag.message, "data file '" + server.url("a") +
                               "' at byte 3: the file changed since it was opened: size 10 is 10, "
                               "version \"1\" is \"2\"");
    server.Put("a", "012345678");
    QCOMPARE(ReadAt(**source, 3, 2).error.code, ErrorCode::kDataLoss);
    server.Put("a", "01");
    QCOMPARE(ReadAt(**source, 3, 2).error.code, ErrorCode::kDataLoss);
  }

  // The first part comes from one content, and the rest would come from another.
  void fileThatChangesDuringAReadIsDataLoss() {
    test::HttpServer server;
    server.Put("a", std::string(1000, 'a'));
    const auto source =
        HttpFiles({.deadline = 5s, .first_pause = 300ms, .max_pause = 300ms}).Open(server.url("a"));
    server.cut_off_for = 1;
    std::jthread changer([&] {
      while (server.cut_off_for > 0) std::this_thread::yield();
      server.Put("a", std::string(1000, 'b'), "\"2\"");
    });
    QCOMPARE(ReadAt(**source, 0, 1000).error.code, ErrorCode::kDataLoss);
  }

  void wrongRangeIsNoData() {
    test::HttpServer server;
    server.Put("a", "0123456789");
    const auto source = HttpFiles(kQuick).Open(server.url("a"));
    server.sends_wrong_range = true;
    const Error error = ReadAt(**source, 4, 3).error;
    QCOMPARE(error.message,
             "data file '" + server.url("a") +
                 "' at byte 4: the server sends 3 bytes from 0, 3 from 4 were requested");
  }

  void missingAndRefused() {
    test::HttpServer server;
    const auto missing = HttpFiles(kQuick).Open(server.url("no"));
    QCOMPARE(missing.error().code, ErrorCode::kNotFound);
    QCOMPARE(missing.error().message, "data path '" + server.url("no") + "' does not exist");
    server.status = 403;
    const int before = server.requests();
    QCOMPARE(HttpFiles(kQuick).Open(server.url("x")).error().message,
             "data file '" + server.url("x") + "' at byte 0: the server answers 403");
    QCOMPARE(server.requests() - before, 1);
    QVERIFY(!HttpFiles(kHasty).Open("http://127.0.0.1:1/x"));  // no listener
  }

  void secretsDoNotStandInNames() {
    QCOMPARE(agents::ShownUrl("https://me:word@host/a/b?sig=1"), std::string("https://host/a/b"));
    QCOMPARE(agents::ShownUrl("http://host/a@b"), std::string("http://host/a@b"));
    test::HttpServer server;
    server.Put("a", "0123456789");
    const auto source = HttpFiles(kQuick).Open(server.url("a?sig=secret"));
    QVERIFY(source.has_value());
    QCOMPARE((*source)->name(), server.url("a"));
  }

  void manifestsNameTheFilesOfAFolder() {
    test::HttpServer server;
    server.Put("d/manifest.txt", "b.tar\r\n\nsub/a.tar");
    const HttpFiles files(kQuick);
    QCOMPARE(*files.List(server.url("d/")),
             std::vector<std::string>({server.url("d/b.tar"), server.url("d/sub/a.tar")}));
    QCOMPARE(*files.List(server.url("d/b.tar")), std::vector<std::string>({server.url("d/b.tar")}));
    QCOMPARE(files.List(server.url("e/")).error().message,
             "data folder '" + server.url("e/") +
                 "' has no manifest.txt, which lists its files, one per line");
    for (const char* bad : {"../x", "/x", "http://other/x", "a b"}) {
      server.Put("d/manifest.txt", std::string("good\n") + bad);
      const auto list = files.List(server.url("d/"));
      QCOMPARE(list.error().message, "'" + server.url("d/") + "manifest.txt' line 2: '" + bad +
                                         "' is not an escaped name below the folder");
    }
  }

  // Everything together: shards on a server, read through cache and read-ahead, with a stored
  // index.
  void dataSetOnAServer() {
    test::HttpServer server;
    std::string shard;
    for (int i = 0; i < 500; ++i) shard += test::TfRecordFrame("record " + std::to_string(i));
    server.Put("d/0.tfrecord", shard);
    server.Put("d/1.tfrecord", shard);
    server.Put("d/manifest.txt", "0.tfrecord\n1.tfrecord\n");
    const QTemporaryDir folder;
    const agents::DataPlaces places{.cache_folder = folder.path().toStdString(), .http = kQuick};
    for (int round = 0; round < 2; ++round) {
      const int before = server.requests();
      const auto mix = agents::OpenData({server.url("d/")}, 15, places);
      QVERIFY2(mix.has_value(), mix ? "" : mix.error().ToString().c_str());
      QCOMPARE(mix->num_samples(), std::int64_t{1000});
      std::vector<std::int32_t> tokens(16);
      for (std::int64_t i = 0; i < 1000; i += 37) {
        QVERIFY(mix->ReadTokens({0, i}, tokens).has_value());
        QCOMPARE(test::AsText(tokens), "record " + std::to_string(i % 500));
      }
      // A manifest and two openings; the first time also two blocks, and perhaps blocks read ahead.
      QVERIFY2(server.requests() - before <= (round == 0 ? 7 : 3),
               qPrintable(QString::number(server.requests() - before)));
    }
    server.Put("d/0.tfrecord", shard, "\"2\"");  // a new version: no old block is used
    QVERIFY(agents::OpenData({server.url("d/")}, 15, places).has_value());
  }
};
TESSERA_TEST(HttpSourceTest)
#include "http_source_test.moc"
