// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/open_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>

#include "engine/data/local_source.h"
#include "engine/data/text_dataset.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::DataFormat;

class OpenDataTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::string path(const std::string& name) const {
    return m_folder.path().toStdString() + "/" + name;
  }
  static Result<engine::DataMix> Open(const std::vector<std::string>& paths,
                                      std::int64_t sequence = 7) {
    const engine::LocalFiles local;
    const engine::SourceOpener* const openers[] = {&local};
    return engine::OpenData(paths, sequence, openers, {});
  }
  static QString Formats(const Result<engine::DataMix>& mix) {
    if (!mix) return QString::fromStdString(mix.error().ToString());
    QStringList names;
    for (const auto& part : mix->parts()) {
      names += QStringLiteral("%1:%2")
                   .arg(QString::fromStdString(std::string(ToString(part.data->format()))))
                   .arg(part.data->num_samples());
    }
    return names.join(QLatin1Char(' '));
  }

 private slots:
  void progressIsOfAllPartsTogether() {
    const std::vector<std::string> paths = {path("mixed"), path("tf"), path("web"), path("mega"),
                                            path("text")};
    const engine::LocalFiles local;
    const engine::SourceOpener* const openers[] = {&local};
    std::vector<std::pair<std::int64_t, std::int64_t>> told;
    engine::IndexOptions options;
    options.progress = [&](std::int64_t done, std::int64_t total) {
      told.emplace_back(done, total);
    };
    std::int64_t bytes = 0;
    for (const std::string& folder : paths) {
      for (const auto& file : std::filesystem::directory_iterator(folder)) {
        bytes += static_cast<std::int64_t>(file.file_size());
      }
    }
    for (const bool is_weighted : {false, true}) {
      told.clear();
      auto named = paths;
      for (std::string& name : named) name = is_weighted ? "1:" + name : name;
      // Kept indexes are taken in the second round: the parts count all the same.
      options.folder = path("kept");
      QVERIFY(engine::OpenData(named, 7, openers, options).has_value());
      QVERIFY(std::is_sorted(told.begin(), told.end(), [](const auto& a, const auto& b) {
        return a.first < b.first || a.second < b.second;
      }));
      for (const auto& [done, total] : told) QVERIFY(done <= total);
      QCOMPARE(told.front().first, std::int64_t{0});
      QCOMPARE(told.back(), std::pair(bytes, bytes));
    }
  }

  void cancelEndsTheSearchForFiles() {
    std::stop_source stop;
    const engine::LocalFiles local;
    const engine::SourceOpener* const openers[] = {&local};
    engine::IndexOptions options;
    options.cancel = stop.get_token();
    int told = 0;
    options.progress = [&](std::int64_t, std::int64_t) {
      ++told;
      stop.request_stop();
    };
    const auto mix = engine::OpenData({path("text")}, 7, openers, options);
    QVERIFY(!mix);
    QCOMPARE(mix.error().code, ErrorCode::kCancelled);
    QCOMPARE(told, 1);
  }

  void initTestCase() {
    test::WriteBytes(path("text/a.txt"), std::string(36, 'a'));
    test::WriteBytes(path("text/b.txt"), std::string(36, 'b'));
    test::WriteBytes(path("tf/a.tfrecord"),
                     test::TfRecordFrame("one") + test::TfRecordFrame("two"));
    test::WriteBytes(path("tf/b.tfrecord-00000-of-00001"), test::TfRecordFrame("three"));
    test::WriteBytes(path("web/0.tar"), test::TarMemberBytes("1.txt", "x") + test::TarEnd());
    test::WriteBytes(path("web/1.tar"), test::TarMemberBytes("1.txt", "y") + test::TarEnd());
    test::WriteBytes(path("mega/m.bin"), std::string(2 * 30, 'm'));
    test::WriteBytes(path("mega/m.idx"), test::MegatronIdx({30}, 8, 2));
    test::WriteBytes(path("mixed/0.tar"), test::TarMemberBytes("1.txt", "x") + test::TarEnd());
    test::WriteBytes(path("mixed/a.tfrecords"), test::TfRecordFrame("one"));
    test::WriteBytes(path("mixed/m.bin"), std::string(2 * 30, 'm'));
    test::WriteBytes(path("mixed/m.idx"), test::MegatronIdx({30}, 8, 2));
    test::WriteBytes(path("mixed/NOTE"), "short");
    test::WriteBytes(path("long/0.tar"), test::TarMemberBytes("1.txt", "x") + test::TarEnd());
    test::WriteBytes(path("long/long.txt"), std::string(64, 't'));
    test::WriteBytes(path("packed/0.tar.gz"), "x");
    test::WriteBytes(path("tiny"), "x");
    test::WriteBytes(path("0.5:odd"), std::string(64, 't'));
  }

  void formatsAreRecognised_data() {
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QString>("formats");
    const auto row = [](const char* name, const QStringList& names, const char* formats) {
      QTest::newRow(name) << names << formats;
    };
    row("a folder of text", {"text"}, "text:10");
    row("texts together", {"text/a.txt", "text/b.txt"}, "text:10");
    row("TFRecord", {"tf"}, "tfrecord:3");
    row("one TFRecord file", {"tf/a.tfrecord"}, "tfrecord:2");
    row("tar", {"web"}, "tar:2");
    row("shards by name", {"web/0.tar", "web/1.tar"}, "tar:2");
    row("Megatron", {"mega"}, "megatron:4");
    row("Megatron by .bin", {"mega/m.bin"}, "megatron:4");
    row("Megatron by .idx", {"mega/m.idx"}, "megatron:4");
    row("Megatron's own way", {"mega/m"}, "megatron:4");
    row("mixed, with a note", {"mixed"}, "megatron:4 tfrecord:1 tar:1");
    row("mixed, with text", {"long"}, "text:9 tar:1");
    row("several folders", {"web", "text", "tf"}, "text:10 tfrecord:3 tar:2");
  }
  void formatsAreRecognised() {
    QFETCH(QStringList, names);
    QFETCH(QString, formats);
    std::vector<std::string> paths;
    for (const QString& name : names) paths.push_back(path(name.toStdString()));
    QCOMPARE(Formats(Open(paths)), formats);
  }

  void textIsWhatTextDatasetReads() {
    const auto mix = Open({path("text")});
    const auto text = engine::TextDataset::Open({path("text")}, 7);
    QCOMPARE(mix->fingerprint(), text->fingerprint());
    std::vector<std::int32_t> tokens(8);
    QVERIFY(mix->ReadTokens({0, 4}, tokens).has_value());
    QCOMPARE(test::AsText(tokens), std::string("aaaaaaaa"));
    QVERIFY(mix->ReadTokens({0, 5}, tokens).has_value());
    QCOMPARE(test::AsText(tokens), std::string("abbbbbbb"));
  }

  // A rank that left out a file would train on other data than the others.
  void fileThatCannotBeReadIsAnError_data() {
    QTest::addColumn<bool>("opens");
    QTest::newRow("not opened") << false;
    QTest::newRow("opened, not read") << true;
  }
  void fileThatCannotBeReadIsAnError() {
    QFETCH(bool, opens);
    class Unreadable final : public engine::ByteSource {
     public:
      explicit Unreadable(engine::ByteSourcePtr file) : file_(std::move(file)) {}
      const std::string& name() const override { return file_->name(); }
      std::int64_t size_bytes() const override { return file_->size_bytes(); }
      std::string version() const override { return file_->version(); }
      Status ReadAt(std::int64_t, std::span<std::byte>) const override {
        return DataLoss("data file '" + name() + "' at byte 0: Input/output error");
      }

     private:
      const engine::ByteSourcePtr file_;
    };
    class Files final : public engine::SourceOpener {
     public:
      explicit Files(bool opens) : opens_(opens) {}
      bool Knows(const std::string& name) const override { return files_.Knows(name); }
      Result<engine::ByteSourcePtr> Open(const std::string& name) const override {
        if (!name.ends_with("b.txt")) return files_.Open(name);
        if (!opens_)
          return Unavailable("data path '" + name + "' cannot be read: Permission denied");
        TESSERA_TRY(engine::ByteSourcePtr file, files_.Open(name));
        return std::make_shared<const Unreadable>(std::move(file));
      }
      Result<std::vector<std::string>> List(const std::string& name) const override {
        return files_.List(name);
      }

     private:
      const bool opens_;
      const engine::LocalFiles files_;
    };
    const Files files(opens);
    const engine::SourceOpener* const openers[] = {&files};
    const auto mix = engine::OpenData({path("text")}, 7, openers, {});
    QVERIFY(!mix);
    QVERIFY2(mix.error().message.find("'" + path("text/b.txt") + "'") != std::string::npos,
             mix.error().message.c_str());
    QVERIFY(!engine::OpenTextFiles(path("text"), files));
  }

  void weights() {
    const auto mix = Open({"3:" + path("text"), "1:" + path("web")});
    QCOMPARE(Formats(mix), QStringLiteral("text:10 tar:2"));
    QCOMPARE(mix->share(0), 0.75);
    const auto shared = Open({"0.5:" + path("mixed"), "0.5:" + path("text/a.txt")});
    QCOMPARE(Formats(shared), QStringLiteral("megatron:4 tfrecord:1 tar:1 text:5"));
    QVERIFY(qAbs(shared->share(0) - 0.5 * 4 / 6) < 1e-9);
    QVERIFY(qAbs(shared->share(3) - 0.5) < 1e-9);
    QCOMPARE(Formats(Open({"./tiny"})), QStringLiteral("data path './tiny' does not exist"));
    QCOMPARE(engine::ParseWeightedPath("./0.5:odd")->path, std::string("./0.5:odd"));
    QCOMPARE(engine::ParseWeightedPath("0.5:https://a/b")->path, std::string("https://a/b"));
    QCOMPARE(engine::ParseWeightedPath("https://a/b")->weight, 0.0);
  }

  void errorsNameThePath() {
    const auto why = [](const auto& mix) {
      return mix ? std::string("no error") : mix.error().message;
    };
    QCOMPARE(why(Open({})), std::string("no data path is given"));
    QCOMPARE(why(Open({"/no/such"})), std::string("data path '/no/such' does not exist"));
    QCOMPARE(why(Open({"ftp://x/y"})), std::string("data path 'ftp://x/y' is of an unknown kind"));
    QCOMPARE(why(Open({path("tiny")})), std::string("data set has 1 bytes, a sample needs 8"));
    QCOMPARE(why(Open({"0:" + path("text")})),
             "the weight of data '0:" + path("text") + "' is not above 0");
    QVERIFY(!Open({"-1:" + path("text")}));
    QCOMPARE(why(Open({"1:" + path("text"), path("web")})),
             "data '" + path("web") +
                 "' has no weight, those before it have one: give one to all or to none");
    QCOMPARE(why(Open({path("web"), "1:" + path("text")})),
             "data '1:" + path("text") +
                 "' has a weight, those before it have none: give one to all or to none");
    QCOMPARE(
        why(Open({path("packed")})),
        "'" + path("packed/0.tar.gz") + "' is compressed and cannot be read by range: unpack it");
  }
};
TESSERA_TEST_APPLESS(OpenDataTest)
#include "open_data_test.moc"
