// SPDX-License-Identifier: Apache-2.0
#include "engine/data/text_dataset.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "engine/data/local_source.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::TextDataset;

class TextDatasetTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  void write(const QString& name, const QByteArray& bytes) {
    const QString path = m_folder.filePath(name);
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
  }
  std::string path(const QString& name = {}) const {
    return (name.isEmpty() ? m_folder.path() : m_folder.filePath(name)).toStdString();
  }

 private slots:
  void init() {
    QVERIFY(m_folder.isValid());
    QDir(m_folder.path()).removeRecursively();
    QVERIFY(QDir().mkpath(m_folder.path()));
  }

  void samplesAreOverlappingWindowsAcrossFiles() {
    write("b/2.txt", "fghij");
    write("a.txt", "abcde");
    write("empty", "");
    write("z", "kl");
    const auto dataset = TextDataset::Open({path()}, 4);
    QVERIFY(dataset.has_value());
    QCOMPARE(dataset->size_bytes(), std::int64_t{12});
    QCOMPARE(dataset->num_files(), std::int64_t{3});
    QCOMPARE(dataset->num_samples(), std::int64_t{2});
    const char* expected[] = {"abcde", "efghi"};
    for (std::int64_t sample = 0; sample < 2; ++sample) {
      std::vector<std::uint8_t> window(5);
      QVERIFY(dataset->Read(sample, window).has_value());
      QCOMPARE(std::string(window.begin(), window.end()), std::string(expected[sample]));
    }
  }

  void oneByteMoreMakesOneSampleMore() {
    write("t", QByteArray(8, 'x'));
    QCOMPARE(TextDataset::Open({path("t")}, 4)->num_samples(), std::int64_t{1});
    write("t", QByteArray(9, 'x'));
    QCOMPARE(TextDataset::Open({path("t")}, 4)->num_samples(), std::int64_t{2});
  }

  void foldersLeaveOutWhatIsNotText() {
    write("text", "0123456789");
    write(".hidden", "0123456789");
    write(".git/config", "0123456789");
    write("__pycache__/x.pyc", "0123456789");
    write("site-packages/x.py", "0123456789");
    write("binary", QByteArray("01234\0"
                               "6789",
                               10));
    QVERIFY(QFile::link(m_folder.filePath("text"), m_folder.filePath("link")));
    QVERIFY(QFile::link(m_folder.path(), m_folder.filePath("loop")));
    QCOMPARE(TextDataset::Open({path()}, 4)->num_files(), std::int64_t{1});
    // A file that is named is taken as it is.
    QCOMPARE(TextDataset::Open({path("binary"), path("link")}, 4)->num_files(), std::int64_t{2});
  }

  void errorsNameTheThing() {
    const auto missing = TextDataset::Open({"/no/such/path"}, 4);
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, ErrorCode::kNotFound);
    QCOMPARE(missing.error().message, std::string("data path '/no/such/path' does not exist"));
    write("t", "123456789012");
    const auto small = TextDataset::Open({path()}, 128);
    QVERIFY(!small);
    QCOMPARE(small.error().message, std::string("data set has 12 bytes, a sample needs 129"));
    QVERIFY(TextDataset::Open({path()}, 11).has_value());
  }

  void fileThatShrankOrWentIsAnError() {
    write("t", QByteArray(100, 'x'));
    const auto dataset = TextDataset::Open({path("t")}, 10);
    QVERIFY(dataset.has_value());
    std::vector<std::uint8_t> window(11);
    QVERIFY(dataset->Read(8, window).has_value());
    write("t", QByteArray(50, 'x'));
    const auto shrank = dataset->Read(8, window);
    QVERIFY(!shrank);
    QCOMPARE(shrank.error().code, ErrorCode::kDataLoss);
    QVERIFY(QFile::remove(m_folder.filePath("t")));
    QVERIFY(!dataset->Read(0, window));
  }

  void fingerprintFollowsTheContent() {
    write("a", QByteArray(10, 'x'));
    write("b", QByteArray(500'000, 'x'));
    const auto fingerprint = TextDataset::Open({path()}, 4)->fingerprint();
    QCOMPARE(TextDataset::Open({path()}, 4)->fingerprint(), fingerprint);
    QByteArray other(500'000, 'x');
    for (const int changed : {0, 50'000, 262'144, 499'999}) {
      other[changed] = 'y';
      write("b", other);
      QVERIFY(TextDataset::Open({path()}, 4)->fingerprint() != fingerprint);
      other[changed] = 'x';
    }
    write("b", other);
    QCOMPARE(TextDataset::Open({path()}, 4)->fingerprint(), fingerprint);
  }

  // Of more than 16 MiB a part is read. What is read is the same in each file of the same size.
  void fingerprintOfMuchTextReadsAPart() {
    class Counted final : public engine::ByteSource {
     public:
      explicit Counted(std::int64_t size) : size_(size) {}
      const std::string& name() const override { return name_; }
      std::int64_t size_bytes() const override { return size_; }
      std::string version() const override { return "1"; }
      Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i) {
          const bool is_changed = changed_ == offset + static_cast<std::int64_t>(i);
          out[i] = static_cast<std::byte>(is_changed ? 'y' : 'x');
        }
        read_ += static_cast<std::int64_t>(out.size());
        return OkStatus();
      }
      mutable std::int64_t read_ = 0;
      std::int64_t changed_ = -1;

     private:
      const std::string name_ = "large";
      const std::int64_t size_;
    };
    const auto fingerprint = [](std::int64_t size, std::int64_t changed, std::int64_t* read) {
      const auto file = std::make_shared<Counted>(size);
      file->changed_ = changed;
      const auto dataset = TextDataset::Make({file}, 4);
      *read = file->read_;
      return dataset->fingerprint();
    };
    constexpr std::int64_t kWhole = 16 << 20, kMuch = std::int64_t{1} << 30;
    std::int64_t read = 0;
    const auto whole = fingerprint(kWhole, -1, &read);
    QCOMPARE(read, kWhole);
    QVERIFY(fingerprint(kWhole, kWhole / 2 + 12'345, &read) != whole);
    const auto much = fingerprint(kMuch, -1, &read);
    QCOMPARE(read, kWhole);
    QVERIFY(fingerprint(kMuch, kMuch / 64 * 40 + 77, &read) != much);
  }

  void hashesAreKept() {
    write("t", QByteArray(1000, 'x'));
    engine::IndexOptions options;
    options.folder = path("kept");
    const engine::LocalFiles local;
    const auto open = [&] {
      return engine::TextDataset::Make({*local.Open(path("t"))}, 4, options)->fingerprint();
    };
    const auto fingerprint = open();
    QCOMPARE(QDir(m_folder.filePath("kept")).entryList(QDir::Files).size(), qsizetype{1});
    QCOMPARE(open(), fingerprint);
    QCOMPARE(engine::TextDataset::Make({*local.Open(path("t"))}, 4)->fingerprint(), fingerprint);
    QCOMPARE(QDir(m_folder.filePath("kept")).entryList(QDir::Files).size(), qsizetype{1});
  }

  void fingerprintFollowsTheSizes() {
    write("a", QByteArray(10, 'x'));
    write("b", QByteArray(20, 'x'));
    const auto fingerprint = TextDataset::Open({path()}, 4)->fingerprint();
    QCOMPARE(TextDataset::Open({path()}, 4)->fingerprint(), fingerprint);
    QVERIFY(TextDataset::Open({path()}, 5)->fingerprint() != fingerprint);
    QVERIFY(TextDataset::Open({path("b"), path("a")}, 4)->fingerprint() != fingerprint);
    write("b", QByteArray(21, 'x'));
    QVERIFY(TextDataset::Open({path()}, 4)->fingerprint() != fingerprint);
  }

  void thisMachineHasTextToTrainOn() {
    const auto paths = engine::DefaultTextPaths();
    if (paths.empty()) QSKIP("neither /usr/share/common-licenses nor a Python library is here");
    const auto dataset = TextDataset::Open(paths, 128);
    QVERIFY2(dataset.has_value(), dataset ? "" : dataset.error().ToString().c_str());
    std::vector<std::uint8_t> window(129);
    QVERIFY(dataset->Read(0, window).has_value());
    QVERIFY(dataset->Read(dataset->num_samples() - 1, window).has_value());
  }
};
TESSERA_TEST_APPLESS(TextDatasetTest)
#include "text_dataset_test.moc"
