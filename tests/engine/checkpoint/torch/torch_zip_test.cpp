// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "engine/checkpoint/torch/zip.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/support/test_main.h"

using namespace tessera;
using checkpoint::ByteSource;
using checkpoint::ByteWindow;
using checkpoint::ZipArchive;
using test::Zip;
using test::ZipOptions;

namespace {
Result<ZipArchive> Open(const std::string& bytes) {
  return ZipArchive::Open(ByteWindow(ByteSource::FromMemory("a.zip", bytes)));
}
const std::vector<test::ZipFileSpec> kFiles = {
    {"r/data.pkl", "pickle"}, {"r/data/0", std::string(100, 'x')}, {"r/empty", ""}};

std::string Patched(std::string bytes, std::size_t at, const std::string& patch) {
  return bytes.replace(at, patch.size(), patch);
}
}  // namespace

class TorchZipTest : public QObject {
  Q_OBJECT

 private slots:
  void readsEntries_data() {
    QTest::addColumn<bool>("zip64");
    QTest::addColumn<bool>("align");
    QTest::addColumn<QByteArray>("comment");
    QTest::newRow("aligned, as torch.save") << false << true << QByteArray();
    QTest::newRow("without fields") << false << false << QByteArray();
    QTest::newRow("zip64") << true << true << QByteArray();
    QTest::newRow("a comment behind") << false << true << QByteArray("PK\x05\x06 said nobody");
    QTest::newRow("zip64 and a comment") << true << false << QByteArray(70, 'c');
  }
  void readsEntries() {
    QFETCH(bool, zip64);
    QFETCH(bool, align);
    QFETCH(QByteArray, comment);
    const ZipOptions options{.zip64 = zip64, .comment = comment.toStdString(), .align = align};
    const std::string zip = Zip(kFiles, options);
    // In the middle of a file, as in a .distcp.
    const std::string file = "before" + zip + "PK\x05\x06 behind";
    auto window = ByteWindow::Make(ByteSource::FromMemory("a.zip", file), 6,
                                   static_cast<std::int64_t>(zip.size()));
    QVERIFY(window);
    const auto archive = ZipArchive::Open(*window);
    QVERIFY2(archive, archive ? "" : archive.error().ToString().c_str());
    QCOMPARE(archive->entries().size(), kFiles.size());
    for (const auto& [name, bytes] : kFiles) {
      const auto* entry = archive->Find(name);
      QVERIFY(entry);
      const auto read = archive->ReadEntry(*entry, 1000);
      QVERIFY(read);
      QCOMPARE(QByteArray::fromStdString(*read), QByteArray::fromStdString(bytes));
      if (align) QCOMPARE(*archive->PayloadOffset(*entry) % 64, 0);
    }
    QVERIFY(!archive->Find("r/data/1"));
  }

  void refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& bytes, const char* message) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromLatin1(message);
    };
    const std::string zip = Zip(kFiles);
    const std::size_t directory = zip.find("PK\x01\x02");
    const std::size_t end = zip.find("PK\x05\x06");
    row("nothing", "", "a.zip: byte 0: not a zip archive");
    row("text", "a line of text that is long enough", "no end record");
    row("compressed", Zip(kFiles, {.method = 8}), "the entry is compressed");
    row("encrypted", Zip(kFiles, {.flags = 1}), "the entry is encrypted");
    row("a name twice", Zip({{"r/a", "1"}, {"r/a", "2"}}), "has this entry's name twice");
    row("more entries than the directory can hold", Patched(zip, end + 10, "\xff\x7f"),
        "cannot hold 32767 entries");
    row("an entry that is none", Patched(zip, directory, "PK\x03"),
        "an entry of the zip directory was expected");
    row("a directory behind the end", Patched(zip, end + 16, "\xff\xff\xff\x7f"),
        "does not lie before its end record");
    row("an entry outside", Patched(zip, directory + 42, "\xff\xff\xff\x7f"),
        "does not lie before the directory");
    row("a payload too large", Patched(zip, directory + 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f"),
        "does not lie before the directory");
    row("two entries at one place",
        Patched(zip, zip.find("PK\x01\x02", directory + 4) + 42, std::string(4, '\0')),
        "share these bytes");
    row("a zip64 field that is missing", Patched(zip, directory + 42, "\xff\xff\xff\xff"),
        "zip64 field is missing");
    row("several disks", Patched(zip, end + 4, "\x01"), "one of several disks");
  }
  void refuses() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, message);
    const auto archive = Open(bytes.toStdString());
    QVERIFY(!archive);
    const QString said = QString::fromStdString(archive.error().ToString());
    QVERIFY2(said.contains(message), qPrintable(said));
    QVERIFY2(said.startsWith(QStringLiteral("a.zip: byte ")), qPrintable(said));
    QVERIFY(!said.contains(QLatin1Char('\n')));
  }

  void aLocalHeaderThatIsAnothersIsRefused() {
    std::string zip = Zip(kFiles);
    zip.replace(30, 1, "q");  // the first letter of the first local name
    const auto archive = Open(zip);
    QVERIFY(archive);
    const auto read = archive->ReadEntry(*archive->Find("r/data.pkl"), 100);
    QVERIFY(!read);
    QCOMPARE(QString::fromStdString(read.error().ToString()),
             QStringLiteral("a.zip: byte 0: the zip directory has another name for this entry"));
    QVERIFY(!archive->ReadEntry(*archive->Find("r/data/0"), 99));  // above the limit
  }

  void cutAtEachByteIsAnError() {
    for (const bool zip64 : {false, true}) {
      const std::string zip = Zip(kFiles, {.zip64 = zip64});
      for (std::size_t size = 0; size < zip.size(); ++size) {
        const auto archive = Open(zip.substr(0, size));
        QVERIFY(!archive);
        QVERIFY(archive.error().ToString().starts_with("a.zip: byte "));
      }
    }
  }
};

TESSERA_TEST_APPLESS(TorchZipTest)
#include "torch_zip_test.moc"
