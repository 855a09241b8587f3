// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cstring>
#include <random>

#include "engine/data/formats/crc32c.h"
#include "engine/data/formats/example_proto.h"
#include "engine/data/formats/megatron.h"
#include "engine/data/formats/tar.h"
#include "engine/data/formats/tfrecord.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using test::InMemory;
using test::TarMemberBytes;
using test::TfRecordFrame;

namespace {

std::string Tokens(const engine::Dataset& data, std::int64_t sample) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(data.sequence() + 1));
  const Status status = data.ReadTokens(sample, tokens);
  return status ? test::AsText(tokens) : status.error().message;
}
std::string Record(const engine::Dataset& data, std::int64_t sample) {
  const auto record = data.ReadRecord(sample);
  return record ? test::AsText(*record) : record.error().message;
}
Result<engine::DatasetPtr> TfRecords(std::string bytes, std::int64_t sequence = 7) {
  return engine::OpenTfRecords({InMemory("a.tfrecord", std::move(bytes))}, sequence, {});
}
Result<engine::DatasetPtr> Tar(std::string bytes, std::int64_t sequence = 7) {
  return engine::OpenTar({InMemory("a.tar", std::move(bytes))}, sequence, {});
}
Result<engine::DatasetPtr> Megatron(std::string bin, std::string idx, std::int64_t sequence = 3) {
  return engine::OpenMegatron(
      {{InMemory("a.bin", std::move(bin)), InMemory("a.idx", std::move(idx))}}, sequence, {});
}
template <typename Value>
QString Why(const Result<Value>& result) {
  return result ? QStringLiteral("no error") : QString::fromStdString(result.error().ToString());
}

}  // namespace

class DataFormatsTest : public QObject {
  Q_OBJECT
 private slots:
  // RFC 3720, appendix B.4.
  void crcOfTheStandard_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<quint32>("crc");
    QTest::newRow("zeros") << QByteArray(32, '\0') << quint32{0x8a9136aa};
    QTest::newRow("ones") << QByteArray(32, '\xff') << quint32{0x62a8ab43};
    QByteArray up, down;
    for (int i = 0; i < 32; ++i)
      up.append(static_cast<char>(i)), down.prepend(static_cast<char>(i));
    QTest::newRow("incrementing") << up << quint32{0x46dd794e};
    QTest::newRow("decrementing") << down << quint32{0x113fdb5c};
    QTest::newRow("check") << QByteArray("123456789") << quint32{0xe3069283};
    QTest::newRow("nothing") << QByteArray() << quint32{0};
  }
  void crcOfTheStandard() {
    QFETCH(QByteArray, bytes);
    QFETCH(quint32, crc);
    const auto span =
        std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    QCOMPARE(engine::Crc32c(span), crc);
    QCOMPARE(engine::Crc32cPortable(span), crc);
    QCOMPARE(test::SlowCrc32c({bytes.constData(), static_cast<std::size_t>(bytes.size())}), crc);
  }
  void crcOfAnyLengthAndAlignment() {
    std::mt19937_64 rng(test::Seed());
    std::string bytes(300, '\0');
    for (char& c : bytes) c = static_cast<char>(rng());
    for (std::size_t begin = 0; begin < 16; ++begin) {
      for (std::size_t size = 0; size < 200; size += 1 + rng() % 5) {
        const std::string_view part = std::string_view(bytes).substr(begin, size);
        QCOMPARE(engine::Crc32c(std::as_bytes(std::span(part))), test::SlowCrc32c(part));
      }
    }
  }

  void tfRecordsAreReadWhole() {
    const std::string bytes = TfRecordFrame("hello") + TfRecordFrame("") +
                              TfRecordFrame(test::Example("text", "a text")) +
                              TfRecordFrame("long enough to be cut") + TfRecordFrame("8 bytes.");
    const auto data = TfRecords(bytes);
    QVERIFY2(data.has_value(), qPrintable(Why(data)));
    QCOMPARE((*data)->num_samples(), std::int64_t{5});
    QCOMPARE(Tokens(**data, 0), std::string("hello"));
    QCOMPARE(Tokens(**data, 1), std::string());
    QCOMPARE(Tokens(**data, 2), std::string("a text"));
    QCOMPARE(Tokens(**data, 3), std::string("long eno"));
    QCOMPARE(Tokens(**data, 4), std::string("8 bytes."));
    QVERIFY(((*data)->fit() == engine::RecordFit{.cut = 1, .padded = 3}));
    QVERIFY(((*TfRecords(bytes, 5))->fit() == engine::RecordFit{.cut = 2, .padded = 2}));
    std::string joined;
    for (std::int64_t i = 0; i < 5; ++i) joined += Record(**data, i);
    QCOMPARE(joined, bytes);
    QCOMPARE((*data)->Describe(1), std::string("a.tfrecord record 1 at byte 21"));
  }

  // Their bytes are no text: nothing may be trained on them.
  void examplesWithoutTextAreRefused() {
    const QString refusal = QStringLiteral(
        "data file 'a.tfrecord' at byte 21: the record is a tf.train.Example without the bytes "
        "feature 'text', so there is nothing to train on");
    const std::string text = TfRecordFrame("hello");
    QCOMPARE(Why(TfRecords(text + TfRecordFrame(test::Example("image", "png")))), refusal);
    QCOMPARE(Why(TfRecords(text + TfRecordFrame(test::Example("texts", "a text")))), refusal);
    QCOMPARE(TfRecords(TfRecordFrame(test::Example("image", ""))).error().code,
             ErrorCode::kInvalidArgument);
    // A damaged Example is bytes like any other; so is text that begins as an Example does.
    const std::string example = test::Example("image", "png");
    QVERIFY(TfRecords(TfRecordFrame(example.substr(0, example.size() - 1))).has_value());
    QVERIFY(TfRecords(TfRecordFrame("\n\nan empty line first")).has_value());
  }

  void damagedTfRecordsAreRefused() {
    const std::string good = TfRecordFrame("hello") + TfRecordFrame("world");
    std::string bad = good;
    bad[21 + 3] ^= 1;
    QCOMPARE(
        Why(TfRecords(bad)),
        QStringLiteral("data file 'a.tfrecord' at byte 21: the CRC of a record's length is wrong"));
    QCOMPARE(Why(TfRecords(good.substr(0, 40))),
             QStringLiteral("data file 'a.tfrecord' at byte 21: a record of 5 bytes of data is cut "
                            "off: the file has 40 bytes"));
    QCOMPARE(Why(TfRecords(good.substr(0, 25))),
             QStringLiteral("data file 'a.tfrecord' at byte 21: the head of a record is cut off"));
    bad = good;
    bad[21 + 14] ^= 4;  // in the data: found when it is read
    const auto data = TfRecords(bad);
    QVERIFY(data.has_value());
    QCOMPARE(Tokens(**data, 0), std::string("hello"));
    QCOMPARE(Tokens(**data, 1),
             std::string("data file 'a.tfrecord' at byte 21: the CRC of a record's data is wrong"));
    QCOMPARE((*data)->ReadRecord(1).error().code, ErrorCode::kDataLoss);
    QCOMPARE(TfRecords("").error().code, ErrorCode::kInvalidArgument);
    QVERIFY(!TfRecords(good, 0));
  }

  void anyBitOfATfRecordCounts() {
    const std::string good = TfRecordFrame("some data") + TfRecordFrame("more");
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string bad = good;
      bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
      const auto data = TfRecords(bad);
      if (!data) continue;
      QVERIFY(!(*data)->ReadRecord(0) || !(*data)->ReadRecord(1));
    }
  }

  void examplesThatAreDamagedAreNoExamples() {
    const std::string good = test::Example("text", "value");
    const auto feature = [](const std::string& bytes) {
      const auto found = engine::BytesFeature(std::as_bytes(std::span(bytes)), "text");
      return found ? std::string(reinterpret_cast<const char*>(found->data()), found->size())
                   : std::string("none");
    };
    QCOMPARE(feature(good), std::string("value"));
    QCOMPARE(feature(good + std::string("\x10\x05", 2)), std::string("value"));  // another field
    QCOMPARE(feature(""), std::string("none"));
    for (std::size_t size = 0; size < good.size(); ++size) {
      QCOMPARE(feature(good.substr(0, size)), std::string("none"));
    }
    QCOMPARE(feature("plain text"), std::string("none"));
    QCOMPARE(feature("\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), std::string("none"));
  }

  void tarSamplesAreMembersOfOneName() {
    const std::string first = TarMemberBytes("d/1.jpg", "JPEG") + TarMemberBytes("d/1.TXT", "one") +
                              TarMemberBytes("d/1.json", "{}");
    const std::string second =
        TarMemberBytes("d/2.seg.png", "PNG") + TarMemberBytes("d/2.json", "{2}");
    const std::string third = TarMemberBytes("e.v/1.bin", std::string(600, 'b'));
    const std::string bytes = TarMemberBytes("d/", "", '5') + first + second +
                              TarMemberBytes("README", "no dot") +
                              TarMemberBytes("d/.hidden", "x") + third + test::TarEnd();
    const auto data = Tar(bytes);
    QVERIFY2(data.has_value(), qPrintable(Why(data)));
    QCOMPARE((*data)->num_samples(), std::int64_t{3});
    QCOMPARE(Tokens(**data, 0), std::string("one"));
    QCOMPARE(Tokens(**data, 1), std::string("{2}"));
    QCOMPARE(Tokens(**data, 2), std::string("bbbbbbbb"));
    QVERIFY(((*data)->fit() == engine::RecordFit{.cut = 1, .padded = 2}));
    QCOMPARE(Record(**data, 0), first);
    QCOMPARE(Record(**data, 1), second);
    QCOMPARE(Record(**data, 2), third);
    QCOMPARE((*data)->Describe(1), std::string("a.tar sample 1 at byte 3584"));
    const auto again =
        Tar(Record(**data, 0) + Record(**data, 1) + Record(**data, 2) + test::TarEnd());
    QCOMPARE((*again)->num_samples(), std::int64_t{3});
  }

  void tarNamesAreSplitAtTheFirstDot_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("sample");
    QTest::addColumn<QString>("extension");
    QTest::newRow("plain") << "1.txt"
                           << "1"
                           << "txt";
    QTest::newRow("two dots") << "a/1.seg.png"
                              << "a/1"
                              << "seg.png";
    QTest::newRow("dot in a folder") << "a.b/1.txt"
                                     << "a.b/1"
                                     << "txt";
    QTest::newRow("dot in a folder, none in the name") << "a.b/1"
                                                       << ""
                                                       << "";
    QTest::newRow("hidden") << "a/.x.txt"
                            << ""
                            << "";
    QTest::newRow("current folder") << "./1.txt"
                                    << "./1"
                                    << "txt";
    QTest::newRow("meta") << "__worker.json__"
                          << ""
                          << "";
  }
  void tarNamesAreSplitAtTheFirstDot() {
    QFETCH(QString, path);
    QFETCH(QString, sample);
    QFETCH(QString, extension);
    const std::string text = path.toStdString();
    const engine::TarKey key = engine::SplitTarName(text);
    QCOMPARE(QString::fromStdString(std::string(key.sample)), sample);
    QCOMPARE(QString::fromStdString(std::string(key.extension)), extension);
  }

  void longTarNames() {
    const std::string folder(150, 'f');
    const std::string pax = "path=" + folder + "/1.txt\n";
    const std::string record = std::to_string(pax.size() + 4) + " " + pax;
    QCOMPARE(record.size(), pax.size() + 4);
    const std::string gnu = TarMemberBytes("././@LongLink", folder + "/2.json" + '\0', 'L');
    const auto data =
        Tar(TarMemberBytes("x", "13 comment=a\n", 'g') + TarMemberBytes("x", record, 'x') +
            TarMemberBytes("short", "one") + gnu + TarMemberBytes(folder, "two") +
            TarMemberBytes("short", "three") + test::TarEnd());
    QVERIFY2(data.has_value(), qPrintable(Why(data)));
    QCOMPARE((*data)->num_samples(), std::int64_t{2});
    QCOMPARE(Tokens(**data, 0), std::string("one"));
    QCOMPARE(Tokens(**data, 1), std::string("two"));
    QCOMPARE(Record(**data, 1), gnu + TarMemberBytes(folder, "two"));
  }

  void damagedTarIsRefused() {
    const std::string good =
        TarMemberBytes("1.txt", "one") + TarMemberBytes("2.txt", std::string(700, 'x'));
    std::string bad = good;
    bad[1024 + 10] ^= 1;
    QCOMPARE(Why(Tar(bad)),
             QStringLiteral("data file 'a.tar' at byte 1024: the checksum of a header is wrong"));
    QCOMPARE(Why(Tar(good.substr(0, 1800))),
             QStringLiteral("data file 'a.tar' at byte 1024: a member of 700 bytes is cut off: the "
                            "file has 1800 bytes"));
    QCOMPARE(Why(Tar(good.substr(0, 1200))),
             QStringLiteral("data file 'a.tar' at byte 1024: a header is cut off"));
    QCOMPARE(Why(Tar(good + TarMemberBytes("3.txt", "sparse", 'S'))),
             QStringLiteral(
                 "data file 'a.tar' at byte 2560: sparse files in a tar archive are not read"));
    QCOMPARE(Why(Tar(good + TarMemberBytes("x", "5 no record", 'x') + TarMemberBytes("3.txt", ""))),
             QStringLiteral("data file 'a.tar' at byte 2560: an extended header is damaged"));
    QVERIFY(Tar(good).has_value());  // the closing blocks may be missing
    QCOMPARE(Tar(test::TarEnd()).error().code, ErrorCode::kInvalidArgument);
  }

  void megatronWindowsOverDocuments_data() {
    QTest::addColumn<int>("code");
    QTest::addColumn<int>("item");
    for (const auto& type : test::kMegatronTypes)
      QTest::newRow(type.name) << type.code << type.item;
  }
  void megatronWindowsOverDocuments() {
    QFETCH(int, code);
    QFETCH(int, item);
    std::string bin;
    for (int i = 0; i < 11; ++i)
      bin += test::Raw<std::int64_t>(i + 100).substr(0, static_cast<std::size_t>(item));
    const auto data = Megatron(bin, test::MegatronIdx({2, 0, 5, 4}, code, item));
    QVERIFY2(data.has_value(), qPrintable(Why(data)));
    QCOMPARE((*data)->num_samples(), std::int64_t{3});  // (11 - 1) / 3
    for (std::int64_t sample = 0; sample < 3; ++sample) {
      std::vector<std::int32_t> tokens(4);
      QVERIFY((*data)->ReadTokens(sample, tokens).has_value());
      for (std::size_t i = 0; i < 4; ++i) {
        QCOMPARE(tokens[i],
                 static_cast<std::int32_t>(sample * 3 + static_cast<std::int64_t>(i) + 100));
      }
      QCOMPARE(Record(**data, sample), bin.substr(static_cast<std::size_t>(sample * 3 * item),
                                                  static_cast<std::size_t>(4 * item)));
    }
  }

  // Sequences that lie anywhere in the .bin, in several pairs, against a string put together here.
  void megatronSequencesAnywhere() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 100; ++round) {
      std::vector<engine::MegatronPair> pairs;
      std::vector<std::uint16_t> whole;
      for (std::size_t p = 0; p < rng() % 3 + 1; ++p) {
        std::vector<std::uint16_t> tokens(rng() % 50 + 5);
        for (auto& token : tokens) token = static_cast<std::uint16_t>(rng());
        std::vector<std::int32_t> lengths;
        std::vector<std::int64_t> pointers, documents{0};
        for (std::size_t s = 0; s < rng() % 8 + 1; ++s) {
          const std::size_t begin = rng() % tokens.size();
          const std::size_t length = rng() % (tokens.size() - begin + 1);
          lengths.push_back(static_cast<std::int32_t>(length));
          pointers.push_back(static_cast<std::int64_t>(begin * 2));
          for (std::size_t i = 0; i < length; ++i) whole.push_back(tokens[begin + i]);
        }
        documents.push_back(static_cast<std::int64_t>(lengths.size()));
        std::string bin(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
        pairs.push_back({InMemory("x.bin", bin),
                         InMemory("x.idx", test::MegatronIdx(lengths, pointers, documents, 8))});
      }
      const auto sequence = static_cast<std::int64_t>(rng() % 9 + 1);
      const auto data = engine::OpenMegatron(pairs, sequence, {});
      if (static_cast<std::int64_t>(whole.size()) <= sequence) {
        QVERIFY(!data);
        continue;
      }
      QVERIFY2(data.has_value(), qPrintable(Why(data)));
      QCOMPARE((*data)->num_samples(), (std::ssize(whole) - 1) / sequence);
      for (std::int64_t sample = 0; sample < (*data)->num_samples(); ++sample) {
        std::vector<std::int32_t> tokens(static_cast<std::size_t>(sequence + 1));
        QVERIFY((*data)->ReadTokens(sample, tokens).has_value());
        for (std::size_t i = 0; i < tokens.size(); ++i) {
          QCOMPARE(tokens[i], std::int32_t{whole[static_cast<std::size_t>(sample * sequence) + i]});
        }
      }
    }
  }

  void damagedMegatronIsRefused_data() {
    QTest::addColumn<QByteArray>("idx");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const std::string& idx, const char* why) {
      QTest::newRow(name) << QByteArray::fromStdString(idx) << why;
    };
    const std::string good = test::MegatronIdx({3, 7}, 8, 2);
    std::string bad = good;
    bad[0] = 'X';
    row("magic", bad,
        "data file 'a.idx' at byte 0: not an index of Megatron: it does not begin with MMIDIDX");
    bad = good;
    bad[9] = 2;
    row("version", bad, "data file 'a.idx' at byte 9: version 2, known is 1");
    bad = good;
    bad[17] = 7;
    row("floats", bad, "data file 'a.idx' at byte 17: dtype code 7 holds no token ids");
    bad = good;
    bad[25] = 1;
    row("count", bad,
        "data file 'a.idx' at byte 18: 72057594037927938 sequences and 3 document ends do not fit "
        "into 82 bytes");
    row("cut", good.substr(0, 81),
        "data file 'a.idx' at byte 18: 2 sequences and 3 document ends do not fit into 81 bytes");
    row("short", good.substr(0, 20),
        "data file 'a.idx' at byte 0: 34 bytes are wanted, the file has 20 in all");
    row("left over", good + "x", "data file 'a.idx' at byte 82: 1 bytes are left over");
    row("outside", test::MegatronIdx({3, 8}, 8, 2),
        "data file 'a.idx' at byte 50: sequence 1 is 16 bytes at 6 of 'a.bin', which has 20");
    row("before the file", test::MegatronIdx({3}, {-2}, {0, 1}, 8),
        "data file 'a.idx' at byte 38: sequence 0 is 6 bytes at -2 of 'a.bin', which has 20");
    row("negative length", test::MegatronIdx({-3}, {0}, {0, 1}, 8),
        "data file 'a.idx' at byte 34: sequence 0 has length -3");
    row("documents go back", test::MegatronIdx({3, 3}, {0, 6}, {0, 2, 1}, 8),
        "data file 'a.idx' at byte 74: document end 2 is 1, allowed are 2 to 2");
    row("documents lack a sequence", test::MegatronIdx({3, 3}, {0, 6}, {0, 1}, 8),
        "data file 'a.idx' at byte 58: documents hold 1 of 2 sequences");
    row("too small", test::MegatronIdx({3}, 8, 2), "data set has 3 tokens, a sample needs 4");
    row("nothing", test::MegatronIdx({}, 8, 2), "data set 'a.bin' (2 files) holds no records");
  }
  void damagedMegatronIsRefused() {
    QFETCH(QByteArray, idx);
    QFETCH(QString, why);
    QCOMPARE(Why(Megatron(std::string(20, 'x'), idx.toStdString())), why);
  }

  void tokensThatAreNone() {
    std::string bin;
    for (const std::int64_t token : {1L, 2L, -5L, 3L}) bin += test::Raw(token);
    const auto data = Megatron(bin, test::MegatronIdx({4}, 5, 8));
    QVERIFY(data.has_value());
    QCOMPARE(Tokens(**data, 0),
             std::string("data file 'a.bin' at byte 16: a token id is negative or above 2^31 - 1"));
  }

  void fingerprintsFollowContentNotPlace() {
    const std::string bytes = TfRecordFrame("hello") + TfRecordFrame("x");
    const auto a = engine::OpenTfRecords({InMemory("/a", bytes)}, 7, {});
    const auto b = engine::OpenTfRecords({InMemory("http://b", bytes)}, 7, {});
    QCOMPARE((*a)->fingerprint(), (*b)->fingerprint());
    QVERIFY((*a)->fingerprint() != (*TfRecords(bytes, 8))->fingerprint());
    QVERIFY((*a)->fingerprint() != (*TfRecords(bytes + TfRecordFrame("y")))->fingerprint());
    QVERIFY((*a)->fingerprint() != (*engine::OpenTfRecords({InMemory("/a", TfRecordFrame("hello")),
                                                            InMemory("/b", TfRecordFrame("x"))},
                                                           7, {}))
                                       ->fingerprint());
  }
};
TESSERA_TEST_APPLESS(DataFormatsTest)
#include "data_formats_test.moc"
