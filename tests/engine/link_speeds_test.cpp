// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/link_speeds.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::LinkSpeed;
using engine::LinkSpeeds;
using engine::ParseLinkSpeeds;
using nlohmann::json;

namespace {

/// Three hosts in a ring; the port of n2 is slow.
LinkSpeeds Ring() {
  LinkSpeeds speeds;
  speeds.measured_at = 1'795'305'600;  // 2026-11-22 00:00 UTC
  speeds.seconds = 1.5;
  speeds.bytes = 123456789;
  speeds.marks = {{0, "m0 a \"b\" 0"}, {1, "m1"}, {2, "m2"}};
  speeds.links = {{0, 0, {6e9, 5e9, 7e9}},
                  {0, 1, {90e6, 100e6, 300e6}, {4, 1 << 20}},
                  {1, 1, {8e9}},
                  {1, 2, {40e6, 50e6}, {1, 1 << 22}},
                  {2, 0, {50e6}, {2, 1 << 20}},
                  {2, 2, {4e9}}};
  return speeds;
}

}  // namespace

class LinkSpeedsTest : public QObject {
  Q_OBJECT
 private slots:
  void medians() {
    QCOMPARE((LinkSpeed{0, 1, {3}}.median()), 3.0);
    QCOMPARE((LinkSpeed{0, 1, {9, 1, 5}}.median()), 5.0);
    QCOMPARE((LinkSpeed{0, 1, {9, 1, 5, 7}}.median()), 5.0);
  }

  void transfersUseTheUsualLink() {
    QVERIFY((Ring().use() == engine::LaneUse{2, 1 << 20}));
    QVERIFY(LinkSpeeds().use() == engine::LaneUse{});
    LinkSpeeds memory = Ring();
    std::erase_if(memory.links, [](const LinkSpeed& link) { return !link.is_memory(); });
    QVERIFY(memory.use() == engine::LaneUse{});
  }

  void plansUseThem() {
    ptc::Topology topology;
    engine::UseMeasured(Ring(), {0, 1, 2}, &topology);
    QCOMPARE(topology.host_bytes_per_second, 6e9);
    QCOMPARE(topology.network_bytes_per_second, 1e8);
    const std::map<std::int32_t, double> slow = {{2, 5e7}};
    QVERIFY(topology.network_of_host == slow);
    QCOMPARE(QString::fromStdString(topology.source),
             QString("measured 2026-11-22 00:00 UTC on n0, n1, n2"));
  }
  void noiseMakesNoExceptions() {
    LinkSpeeds speeds = Ring();
    speeds.links[3].bytes_per_second = {80e6};
    speeds.links[4].bytes_per_second = {76e6};
    ptc::Topology topology;
    engine::UseMeasured(speeds, {0, 1, 2}, &topology);
    QCOMPARE(topology.network_bytes_per_second, 1e8);
    QVERIFY(topology.network_of_host.empty());
  }
  void aHostIsAsFastAsTheFastestOfItsNodes() {
    ptc::Topology topology;
    topology.host_of_node = {{1, 0}};
    engine::UseMeasured(Ring(), {0, 1, 2}, &topology);
    // Hosts 0 (n0 and n1: 1e8) and 2 (5e7): the lower of two is the usual one.
    QCOMPARE(topology.network_bytes_per_second, 5e7);
    QCOMPARE(topology.NetworkOf(0), 1e8);
    QCOMPARE(topology.NetworkOf(2), 5e7);
  }
  void hostsThatAreAwayDoNotCount() {
    ptc::Topology topology;
    engine::UseMeasured(Ring(), {0, 1}, &topology);
    QCOMPARE(topology.network_bytes_per_second, 1e8);
    QVERIFY(topology.network_of_host.empty());
    QVERIFY(topology.source.ends_with("on n0, n1"));
    ptc::Topology untouched;
    engine::UseMeasured(Ring(), {7}, &untouched);
    QVERIFY(untouched == ptc::Topology{});
  }
  void whatIsNotMeasuredIsSaid() {
    LinkSpeeds speeds = Ring();
    std::erase_if(speeds.links, [](const LinkSpeed& link) { return !link.is_memory(); });
    ptc::Topology topology;
    topology.network_bytes_per_second = 77;
    engine::UseMeasured(speeds, {0}, &topology);
    QCOMPARE(topology.network_bytes_per_second, 77.0);
    QVERIFY(topology.source.ends_with("on n0; the network is assumed"));
    engine::UseMeasured({}, {0, 1, 2}, &topology);  // changes nothing
    QVERIFY(topology.source.ends_with("on n0; the network is assumed"));
  }

  void aForgottenNodeLeavesNothing() {
    LinkSpeeds speeds = Ring();
    speeds.Forget(1);
    QVERIFY(!speeds.marks.contains(1));
    const std::vector<LinkSpeed> left = {Ring().links[0], Ring().links[4], Ring().links[5]};
    QVERIFY(speeds.links == left);
    speeds.Forget(0);
    speeds.Forget(2);
    QVERIFY(speeds.empty());
  }

  void theyComeBackAsTheyWere() {
    const std::string text = engine::ToJson(Ring());
    QVERIFY(text.find('\n') == std::string::npos);
    const auto back = ParseLinkSpeeds(text);
    VERIFY_OK(back);
    QVERIFY(*back == Ring());
    VERIFY_OK(ParseLinkSpeeds(engine::ToJson(LinkSpeeds{})));
  }

  void badInputIsNamed_data() {
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* pointer, const char* value,
                        const char* says) { QTest::newRow(name) << pointer << value << says; };
    row("no object", "", "[1]", "the text is not a JSON object");
    row("a key too many", "/turbo", "1", "unknown key 'turbo' of the text");
    row("a key of a link too many", "/links/0/turbo", "1", "unknown key 'turbo' of a link");
    row("no time", "/measured_at", "null", "'measured_at' is not a number from 0 to");
    row("before 1970", "/measured_at", "-1", "'measured_at'");
    row("bytes below 0", "/bytes", "-1", "'bytes' is not");
    row("no links", "/links", "{}", "'links' is not a list");
    row("a link without runs", "/links/0/bytes_per_second", "[]", "is not a list of 1 to 1024");
    row("no speed", "/links/0/bytes_per_second/0", "0", "a run of a link is not a number from 1");
    row("speed as text", "/links/0/bytes_per_second/0", "\"fast\"", "a run of a link");
    row("a node below 0", "/links/0/from", "-1", "'from' of a link is not a node");
    row("a node past 32 bits", "/links/0/to", "4294967296", "'to' of a link is not a node");
    row("half a node", "/links/0/to", "0.5", "'to' of a link is not a node");
    row("no lanes", "/links/1/lanes", "0", "'lanes' of a link is not a number from 1 to");
    row("a frame without bytes", "/links/1/frame_bytes", "0", "'frame_bytes' of a link");
    row("a link twice", "/links/1/to", "0", "n0 to n0 appears twice");
    row("a node without a mark", "/links/1/to", "9", "n9 has a link and is not among the nodes");
    row("a mark that is none", "/nodes/0/mark", "7", "'mark' is not a string");
    row("a node that is none", "/nodes/0", "7", "a node is not a JSON object");
  }
  void badInputIsNamed() {
    QFETCH(QString, pointer);
    QFETCH(QString, value);
    QFETCH(QString, says);
    json object = json::parse(engine::ToJson(Ring()));
    object[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
    VERIFY_ERROR(ParseLinkSpeeds(object.dump()), ErrorCode::kInvalidArgument, says.toStdString());
    VERIFY_ERROR(ParseLinkSpeeds(object.dump().substr(1)), ErrorCode::kInvalidArgument, "");
  }
  void everyKeyIsNeeded() {
    const json whole = json::parse(engine::ToJson(Ring()));
    for (const auto& [key, value] : whole.items()) {
      json object = whole;
      object.erase(key);
      VERIFY_ERROR(ParseLinkSpeeds(object.dump()), ErrorCode::kInvalidArgument,
                   "has no '" + key + "'");
    }
  }
};

TESSERA_TEST_APPLESS(LinkSpeedsTest)
#include "link_speeds_test.moc"
