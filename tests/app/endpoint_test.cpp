// SPDX-License-Identifier: Apache-2.0
#include "app/commands/endpoint.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;

class EndpointTest : public QObject {
  Q_OBJECT
 private slots:
  void isRead_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("endpoint");
    QTest::newRow("host") << "lab3"
                          << "tcp://lab3:7400";
    QTest::newRow("host and port") << "10.0.0.1:80"
                                   << "tcp://10.0.0.1:80";
    QTest::newRow("with scheme") << "tcp://lab3:9"
                                 << "tcp://lab3:9";
    QTest::newRow("IPv6") << "[fe80::1]"
                          << "tcp://[fe80::1]:7400";
    QTest::newRow("IPv6 and port") << "[fe80::1]:7500"
                                   << "tcp://[fe80::1]:7500";
  }
  void isRead() {
    QFETCH(QString, text);
    QFETCH(QString, endpoint);
    const auto read = app::parseEndpoint(text.toStdString(), app::kDefaultPort);
    QVERIFY(read.has_value());
    QCOMPARE(QString::fromStdString(read->text()), endpoint);
  }

  void isRefused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("nothing") << ""
                             << "'' is not HOST:PORT";
    QTest::newRow("no host") << ":80"
                             << "':80' is not HOST:PORT";
    QTest::newRow("any host") << "*:80"
                              << "'*:80' is not HOST:PORT";
    QTest::newRow("no number") << "a:b"
                               << "port 'b' of 'a:b' is not in 1…65532";
    QTest::newRow("no room for the others") << "a:65533"
                                            << "port '65533' of 'a:65533' is not in 1…65532";
    QTest::newRow("IPv6 without brackets")
        << "fe80::1"
        << "'fe80::1': an IPv6 address is written in brackets: [::1]";
    QTest::newRow("brackets around a name") << "[lab3]:80"
                                            << "'[lab3]' in '[lab3]:80' is no IPv6 address";
    QTest::newRow("trailing") << "a:80/x"
                              << "port '80/x' of 'a:80/x' is not in 1…65532";
  }
  void isRefused() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto read = app::parseEndpoint(text.toStdString(), app::kDefaultPort);
    QVERIFY(!read.has_value());
    QCOMPARE(QString::fromStdString(read.error().message), message);
  }
};
TESSERA_TEST_APPLESS(EndpointTest)
#include "endpoint_test.moc"
