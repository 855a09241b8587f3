// SPDX-License-Identifier: Apache-2.0
// First, because moc 6.4 cannot parse <concepts>, which <array> begins with, on its own.
#include <QTest>
//
#include "ptc/mesh.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {
std::string S(const QString& text) { return text.toStdString(); }
}  // namespace

class MeshTest : public QObject {
  Q_OBJECT
 private slots:
  void deviceRejects_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "n", "n1", "g1", "n1g", "ng1", "n1g-1", "n-1g1", "n01g0", "n1g00",
                             "n1g1 ", " n1g1", "n1g1x", "n99999999999g0", "N1G1", "1g1"}) {
      QTest::newRow(qPrintable(QString("'%1'").arg(text))) << text;
    }
  }
  void deviceRejects() {
    QFETCH(QString, text);
    const auto device = ParseDevice(S(text));
    QVERIFY(!device);
    QCOMPARE(device.error().message, "device '" + S(text) + "' is not of the form n<node>g<index>");
  }

  void deviceRoundTrip() {
    QCOMPARE(*ParseDevice("n12g3"), (DeviceId{12, 3}));
    QCOMPARE(ToString(DeviceId{12, 3}), "n12g3");
    QVERIFY((DeviceId{1, 9} < DeviceId{2, 0}));
  }

  void devicesKeepTheirOrder() {
    QCOMPARE(ToString(*ParseDevices("n1g3,n0g0")), "n1g3,n0g0");
    QCOMPARE(ToString(*ParseDevices("2x2")), "n0g0,n0g1,n1g0,n1g1");
  }

  void devicesReject_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("empty") << ""
                           << "device list is empty";
    QTest::newRow("trailing comma") << "n0g0,"
                                    << "device '' is not of the form n<node>g<index>";
    QTest::newRow("twice") << "n0g0,n0g1,n0g0"
                           << "device n0g0 is given twice";
    QTest::newRow("grid of zero nodes") << "0x4"
                                        << "device grid '0x4' is not <nodes>x<devices of a node>";
    QTest::newRow("grid without a side") << "2x"
                                         << "device grid '2x' is not <nodes>x<devices of a node>";
    QTest::newRow("grid too large") << "65536x65536"
                                    << "device grid '65536x65536' has more than 65536 devices";
  }
  void devicesReject() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto devices = ParseDevices(S(text));
    QVERIFY(!devices);
    QCOMPARE(devices.error().message, S(message));
  }

  void shapeRoundTrip_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("canonical");
    QTest::addColumn<qint64>("ranks");
    QTest::newRow("canonical") << "dp=2,tp=4,pp=1"
                               << "dp=2,tp=4,pp=1" << qint64{8};
    QTest::newRow("any order") << "pp=2,tp=4,dp=3"
                               << "dp=3,tp=4,pp=2" << qint64{24};
    QTest::newRow("axes left out are 1") << "tp=4"
                                         << "dp=1,tp=4,pp=1" << qint64{4};
    QTest::newRow("ep and cp are shown above 1") << "cp=2,ep=3"
                                                 << "dp=1,tp=1,pp=1,ep=3,cp=2" << qint64{6};
    QTest::newRow("ep of 1 is hidden") << "ep=1,dp=2"
                                       << "dp=2,tp=1,pp=1" << qint64{2};
  }
  void shapeRoundTrip() {
    QFETCH(QString, text);
    QFETCH(QString, canonical);
    QFETCH(qint64, ranks);
    const auto shape = ParseMeshShape(S(text));
    QVERIFY(shape);
    QCOMPARE(ToString(*shape), S(canonical));
    QCOMPARE(shape->num_ranks(), std::int64_t{ranks});
    QCOMPARE(*ParseMeshShape(ToString(*shape)), *shape);
  }

  void shapeRejects_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("empty") << ""
                           << "mesh is empty";
    QTest::newRow("no degree") << "dp"
                               << "mesh 'dp': 'dp' is not <axis>=<degree>";
    QTest::newRow("unknown axis")
        << "dp=2,zp=2"
        << "mesh 'dp=2,zp=2': unknown axis 'zp', known are pp, dp, ep, cp, tp";
    QTest::newRow("axis twice") << "dp=2,dp=2"
                                << "mesh 'dp=2,dp=2': axis dp is given twice";
    QTest::newRow("degree zero") << "dp=0"
                                 << "mesh 'dp=0': degree '0' of axis dp is not in 1..65536";
    QTest::newRow("degree negative") << "dp=-2"
                                     << "mesh 'dp=-2': degree '-2' of axis dp is not in 1..65536";
    QTest::newRow("degree too large")
        << "tp=65537"
        << "mesh 'tp=65537': degree '65537' of axis tp is not in 1..65536";
    QTest::newRow("degree past int64")
        << "tp=99999999999999999999"
        << "mesh 'tp=99999999999999999999': degree '99999999999999999999' of axis tp is not in "
           "1..65536";
    QTest::newRow("a space") << "dp=2, tp=2"
                             << "mesh 'dp=2, tp=2': unknown axis ' tp', known are pp, dp, ep, cp, "
                                "tp";
  }
  void shapeRejects() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto shape = ParseMeshShape(S(text));
    QVERIFY(!shape);
    QCOMPARE(shape.error().ToString(), S(message));
  }

  void meshRejects_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("count differs") << "dp=4,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3,n1g0,n1g1"
                                   << "mesh dp=4,tp=2,pp=1 has 8 ranks but 6 devices are given";
    QTest::newRow("device twice") << "dp=2 on n0g1,n0g1"
                                  << "device n0g1 is given twice";
    QTest::newRow("no devices") << "dp=2"
                                << "mesh 'dp=2' is not of the form <mesh> on <devices>";
    QTest::newRow("ranks overflow int64")
        << "pp=65536,dp=65536,ep=65536,cp=65536,tp=65536 on n0g0"
        << "mesh dp=65536,tp=65536,pp=65536,ep=65536,cp=65536 has 9223372036854775807 ranks but 1 "
           "devices are given";
  }
  void meshRejects() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto mesh = ParseDeviceMesh(S(text));
    QVERIFY(!mesh);
    QCOMPARE(mesh.error().ToString(), S(message));
  }

  void makeRefusesADeviceTwiceAndDegreesBelowOne() {
    QCOMPARE(DeviceMesh::Make(*ParseMeshShape("dp=2"), {{0, 1}, {0, 1}}).error().message,
             "device n0g1 is given twice");
    MeshShape shape;
    shape[Axis::kDp] = -1;
    shape[Axis::kTp] = -1;
    QVERIFY(!DeviceMesh::Make(shape, {{0, 0}}));
    QVERIFY(!DeviceMesh::Make(MeshShape{}, {{-1, 0}}));
  }

  void meshRoundTrip() {
    const std::string text = "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3";
    const auto mesh = ParseDeviceMesh(text);
    QVERIFY(mesh);
    QCOMPARE(ToString(*mesh), text);
    QCOMPARE(*ParseDeviceMesh("dp=2,tp=2 on 1x4"), *mesh);
    QCOMPARE(mesh->RankOf({0, 2}), std::optional<int>(2));
    QCOMPARE(mesh->RankOf({1, 2}), std::optional<int>());
  }

  // Ranks are row-major over (pp, dp, ep, cp, tp): tp is the fastest.
  void coordinatesAreRowMajor() {
    const auto mesh = ParseDeviceMesh("pp=2,dp=3,ep=2,cp=2,tp=2 on 1x48");
    QVERIFY(mesh);
    int rank = 0;
    for (std::int64_t pp = 0; pp < 2; ++pp)
      for (std::int64_t dp = 0; dp < 3; ++dp)
        for (std::int64_t ep = 0; ep < 2; ++ep)
          for (std::int64_t cp = 0; cp < 2; ++cp)
            for (std::int64_t tp = 0; tp < 2; ++tp, ++rank) {
              QCOMPARE(mesh->Coordinate(rank, Axis::kPp), pp);
              QCOMPARE(mesh->Coordinate(rank, Axis::kDp), dp);
              QCOMPARE(mesh->Coordinate(rank, Axis::kEp), ep);
              QCOMPARE(mesh->Coordinate(rank, Axis::kCp), cp);
              QCOMPARE(mesh->Coordinate(rank, Axis::kTp), tp);
            }
  }
};

TESSERA_TEST_APPLESS(MeshTest)
#include "mesh_test.moc"
