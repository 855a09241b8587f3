// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/manifest.h"

#include <QDir>
#include <QFile>
#include <QTest>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/saved_folder.h"
#include "engine/files/whole_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::checkpoint;

namespace {

const std::string kFile = "shard-00001-model-00001-of-00001.safetensors";

Manifest Example() {
  Manifest out;
  out.job = "mini";
  out.step = 120;
  out.timeline = 2;
  out.model = "gpt-mini";
  out.mesh = "dp=2,tp=1,pp=1";
  out.created = 1.75e9;
  out.settings = R"({"seed":7})";
  out.digest = "00000000000000ff";
  out.tensors = {{"w",
                  ptc::DType::kBF16,
                  {4, 8},
                  0xfedcba9876543210ULL,
                  ptc::TensorRole::kParam,
                  {"tied"}},
                 {"job.step", ptc::DType::kI64, {}, 1}};
  out.files = {{kFile, 5}};
  return out;
}

}  // namespace

class ManifestTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_home;
  std::string m_path, m_partial;

  void write(const std::string& name, const std::string& text) {
    VERIFY_OK(engine::WriteWholeFile(m_partial + "/" + name, text, 0666));
  }
  /// A complete checkpoint at m_path.
  void publish() {
    VERIFY_OK(MakePartial(m_path, m_partial));
    write(kFile, "12345");
    VERIFY_OK(Publish(m_path, m_partial, Example()));
  }

 private slots:
  void init() {
    m_home = test::TemporaryFolder();
    m_path = SavedPath(m_home->path().toStdString(), "mini", 120, 2);
    m_partial = PartialPath(m_path, 7);
  }

  void isReadAsWritten() {
    const auto read = ParseManifest(ToText(Example()), "m");
    VERIFY_OK(read);
    QVERIFY(*read == Example());
    QCOMPARE(read->bytes(), std::int64_t{5});
  }

  void otherTextsAreRefused_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");  // JSON; empty: the member is missing
    QTest::addColumn<QByteArray>("why");
    const auto row = [](const char* name, const char* key, const char* value, const char* why) {
      QTest::newRow(name) << QByteArray(key) << QByteArray(value) << QByteArray(why);
    };
    row("another format", "format", R"("zarr")", "no manifest of format tessera-checkpoint");
    row("a later version", "version", "2", "version 2, this program reads 1");
    row("unknown digests", "digest_algorithm", R"("crc32")", "'crc32', this program compares");
    row("no job", "job", "", "job");
    row("a text for a number", "step", R"("120")", "not a number from 0");
    row("a negative step", "step", "-1", "not a number from 0");
    row("a fraction", "step", "1.5", "not a number from 0");
    row("a step beyond what is counted", "step", "1e300", "not a number from 0");
    row("a digest of 15 digits", "digest", R"("00000000000000f")", "00000000000000f");
    row("an unknown dtype", "tensors",
        R"([{"name":"w","dtype":"f99","shape":[],"digest":"0000000000000000"}])", "f99");
    row("an unknown role", "tensors",
        R"([{"name":"w","dtype":"f32","shape":[],"digest":"0000000000000000","role":"w"}])", "'w'");
    row("a tensor twice", "tensors",
        R"([{"name":"w","dtype":"f32","shape":[],"digest":"0000000000000000"},
            {"name":"w","dtype":"f32","shape":[],"digest":"0000000000000000"}])",
        "tensor 'w' occurs twice");
    row("too many elements", "tensors",
        R"([{"name":"w","dtype":"f32","shape":[4294967296,4294967296],"digest":"0000000000000000"}])",
        "4294967296");
    row("a name that leads out", "files", R"([{"name":"../w","bytes":1}])", "has other characters");
    row("the folder above", "files", R"([{"name":"..","bytes":1}])", "has other characters");
    row("an escape of a URL", "files", R"([{"name":"..%2fw","bytes":1}])", "has other characters");
    row("a query", "files", R"([{"name":"w?x","bytes":1}])", "has other characters");
    row("negative bytes", "files", R"([{"name":"w","bytes":-1}])", "'bytes' is -1, not a number");
    row("a file twice", "files", R"([{"name":"w","bytes":1},{"name":"w","bytes":1}])",
        "file 'w' occurs twice");
    row("too many bytes", "files", R"([{"name":"a","bytes":9223372036854775807}])",
        "not a number from 0");
  }
  void otherTextsAreRefused() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, why);
    auto json = nlohmann::json::parse(ToText(Example()));
    json.erase(key.toStdString());
    if (!value.isEmpty()) json[key.toStdString()] = nlohmann::json::parse(value.toStdString());
    const auto read = ParseManifest(json.dump(), "/c/tessera.json");
    VERIFY_ERROR(read, ErrorCode::kInvalidArgument, why.toStdString());
    QVERIFY(read.error().message.starts_with("'/c/tessera.json': "));
  }

  // Wherever a text is cut, and whatever byte of it differs, it is refused or read; nothing aborts.
  void noTextAborts() {
    const std::string text = ToText(Example());
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
      QVERIFY(!ParseManifest(text.substr(0, i), "m"));
      std::string other = text;
      other[i] = '\x80';
      static_cast<void>(ParseManifest(other, "m"));
    }
  }

  // Larger ones would be written and then be refused by every reader.
  void manifestsHaveOneLimit() {
    QCOMPARE(kMaxManifestBytes, kMaxHeaderBytes);
    VERIFY_OK(MakePartial(m_path, m_partial));
    write(kFile, "12345");
    Manifest large = Example();
    const auto without = static_cast<std::int64_t>(ToText(large).size());
    large.settings += std::string(static_cast<std::size_t>(kMaxManifestBytes - without), ' ');
    QCOMPARE(static_cast<std::int64_t>(ToText(large).size()), kMaxManifestBytes);
    large.settings += ' ';
    VERIFY_ERROR(Publish(m_path, m_partial, large), ErrorCode::kInvalidArgument,
                 "tessera.json' would have 100000001 bytes, the limit is 100000000; copy the 2 "
                 "tensors through a mount instead");
    large.settings.pop_back();
    VERIFY_OK(Publish(m_path, m_partial, large));
    VERIFY_OK(ReadManifest(m_path));
    VERIFY_OK(ReadManifestAt(m_path, OpenLocal));
    std::filesystem::resize_file(m_path + "/tessera.json", kMaxManifestBytes + 1);
    const std::string refused =
        "'" + m_path +
        "/tessera.json' has 100000001 bytes, the limit is 100000000; without this "
        "file, the folder is a plain sharded folder";
    VERIFY_ERROR(ReadManifest(m_path), ErrorCode::kInvalidArgument, refused);
    VERIFY_ERROR(ReadManifestAt(m_path, OpenLocal), ErrorCode::kInvalidArgument, refused);
  }

  void aFolderIsCompleteWithItsManifestOnly() {
    VERIFY_OK(MakePartial(m_path, m_partial));
    VERIFY_OK(MakePartial(m_path, m_partial));  // several writers
    write(kFile, "12345");
    QVERIFY(Examine(m_partial).problem.find("was cut off") != std::string::npos);
    QVERIFY(!Examine(m_path).problem.empty());
    VERIFY_OK(Publish(m_path, m_partial, Example()));
    const FoundCheckpoint found = Examine(m_path);
    QCOMPARE(found.problem, std::string());
    QVERIFY(found.manifest == Example());
    QVERIFY(!QDir(QString::fromStdString(m_partial)).exists());
    VERIFY_ERROR(MakePartial(m_path, m_partial), ErrorCode::kAlreadyExists, m_path);
  }

  // As after two nodes have written to different disks under one path.
  void aMissingFileIsNotPublished() {
    VERIFY_OK(MakePartial(m_path, m_partial));
    VERIFY_ERROR(Publish(m_path, m_partial, Example()), ErrorCode::kDataLoss,
                 "do all nodes see the same");
    write(kFile, "1234");
    VERIFY_ERROR(Publish(m_path, m_partial, Example()), ErrorCode::kDataLoss, "has 4 bytes");
    QVERIFY(!QDir(QString::fromStdString(m_path)).exists());
  }

  void aFolderThatIsThereIsNotReplaced() {
    publish();
    QVERIFY(QDir().mkpath(QString::fromStdString(m_partial)));
    write(kFile, "12345");
    VERIFY_ERROR(Publish(m_path, m_partial, Example()), ErrorCode::kAlreadyExists, "exists");
    QCOMPARE(Examine(m_path).problem, std::string());
  }

  void aFileThatHasChangedIsNamed() {
    publish();
    VERIFY_OK(engine::WriteWholeFile(m_path + "/" + kFile, "123456", 0666));
    QVERIFY(Examine(m_path).problem.find("has 6 bytes, the manifest says 5") != std::string::npos);
    std::filesystem::remove(m_path + "/" + kFile);
    QVERIFY(Examine(m_path).problem.find("cannot be examined") != std::string::npos);
  }

  void removingLeavesFilesOfOthers() {
    publish();
    VERIFY_OK(engine::WriteWholeFile(m_path + "/notes.txt", "mine", 0666));
    const auto removed = RemoveSaved(m_path);
    VERIFY_OK(removed);
    QVERIFY(*removed > 5);
    QCOMPARE(QDir(QString::fromStdString(m_path)).entryList(QDir::Files), QStringList{"notes.txt"});
    VERIFY_ERROR(RemoveSaved(m_path), ErrorCode::kInvalidArgument, "no checkpoint of a cluster");
    VERIFY_ERROR(RemoveSaved(m_path + "x"), ErrorCode::kNotFound, "does not exist");
  }

  void whatWasCutOffIsRemoved() {
    VERIFY_OK(MakePartial(m_path, m_partial));
    write(kFile, "12345");
    const auto removed = RemoveSaved(m_partial);
    VERIFY_OK(removed);
    QCOMPARE(*removed, std::int64_t{5});
    QVERIFY(!QDir(QString::fromStdString(m_partial)).exists());
  }

  void theOnesInAFolderAreFound() {
    publish();
    const QString home = m_home->path();
    QVERIFY(QDir(home).mkpath("mini-step-130.partial"));
    QVERIFY(QDir(home).mkpath("something-else"));
    const auto found = FindSaved(home.toStdString());
    VERIFY_OK(found);
    QCOMPARE(found->size(), std::size_t{2});
    QCOMPARE((*found)[0].path, m_path);
    QCOMPARE((*found)[0].problem, std::string());
    QVERIFY((*found)[1].path.ends_with("mini-step-130.partial"));
    QVERIFY(!(*found)[1].problem.empty());
    VERIFY_ERROR(FindSaved(home.toStdString() + "/no"), ErrorCode::kNotFound, "cannot be listed");
  }

  void namesHaveStepAndTimeline() {
    QCOMPARE(SavedPath("/c", "a", 7, 0), std::string("/c/a-step-7"));
    QCOMPARE(SavedPath("/c/", "a", 7, 3), std::string("/c/a-step-7-t3"));
    QCOMPARE(PartialPath("/c/a-step-7", 255), std::string("/c/a-step-7.00000000000000ff.partial"));
    QCOMPARE(FileIn("https://h/b?sig=1", "f"), std::string("https://h/b/f?sig=1"));
    QCOMPARE(FileIn("/c/what?/", "f"), std::string("/c/what?/f"));
  }
};

TESSERA_TEST(ManifestTest)
#include "manifest_test.moc"
