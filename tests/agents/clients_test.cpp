// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/clients.h"

#include <QTest>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/sim/memory_store.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

const KeyOwner kOwner{"laptop", Role::kOperator};

/// The clients of a registrar, and the replies that they got.
struct Office {
  std::vector<std::pair<std::string, wire::Reply>> replies;
  sim::MemoryStore journal;
  test::PartOffice around{journal, [this](const std::string& identity, const wire::Reply& reply) {
                            replies.emplace_back(identity, reply);
                          }};
  OperatorLease lease{around.common()};
  Clients clients{around.common(), lease};
};

wire::Request RequestOf(const std::string& id, std::uint64_t sequence) {
  wire::Request request;
  request.set_id(id);
  request.set_sequence(sequence);
  return request;
}

}  // namespace

class ClientsTest : public QObject {
  Q_OBJECT

 private slots:
  // A client that reconnects while a plan is made sends its request again.
  void anActThatIsNotAnsweredYetIsDoneOnce_data() {
    QTest::addColumn<int>("field");
    QTest::newRow("apply") << int{wire::Request::kApply};
    QTest::newRow("hand-in") << int{wire::Request::kHandIn};
    QTest::newRow("start of a job") << int{wire::Request::kStartJob};
    QTest::newRow("decision") << int{wire::Request::kDecision};
  }
  void anActThatIsNotAnsweredYetIsDoneOnce() {
    QFETCH(int, field);
    const auto act = [&](std::uint64_t sequence) {
      wire::Request request = RequestOf("act", sequence);
      const auto* of_field = wire::Request::descriptor()->FindFieldByNumber(field);
      request.GetReflection()->MutableMessage(&request, of_field);
      return request;
    };
    Office office;
    const ReplyPtr reply = office.clients.Admit("old", kOwner, act(1));
    QVERIFY(reply);
    QVERIFY(!office.clients.Admit("new", kOwner, act(2)));
    QVERIFY(office.replies.empty());
    wire::Reply done;
    done.mutable_apply()->set_transaction(7);
    reply->Done(done);
    QCOMPARE(office.replies.size(), std::size_t{2});
    // Again, after the answer.
    QVERIFY(!office.clients.Admit("newest", kOwner, act(3)));
    QCOMPARE(office.replies.size(), std::size_t{3});
    const std::vector<std::string> identities = {"old", "new", "newest"};
    for (std::size_t i = 0; i < identities.size(); ++i) {
      QCOMPARE(office.replies[i].first, identities[i]);
      QCOMPARE(office.replies[i].second.sequence(), std::uint64_t{i + 1});
      QCOMPARE(office.replies[i].second.apply().transaction(), std::int64_t{7});
    }
  }

  // Each repeat adds a connection that waits for the reply.
  void manyRepeatsOfOneRequestAreBounded() {
    Office office;
    wire::Request act = RequestOf("act", 1);
    act.mutable_apply();
    const ReplyPtr reply = office.clients.Admit("client", kOwner, act);
    QVERIFY(reply);
    for (std::uint64_t n = 2; n <= 1000; ++n) {
      act.set_sequence(n);
      QVERIFY(!office.clients.Admit("client", kOwner, act));
    }
    reply->Done(wire::Reply());
    QCOMPARE(office.replies.size(), PendingReply::kMostWaiting);
    QCOMPARE(office.replies.back().second.sequence(), std::uint64_t{1000});
  }

  // Each connection that has said hello, and not only the one that requests the shutdown.
  void allClientsAreToldThatTheClusterGoesDown() {
    Office office;
    wire::Hello hello;
    hello.set_major(kProtocolMajor);
    hello.set_minor(kProtocolMinor);
    for (const char* identity : {"a", "b"}) {
      wire::Request request = RequestOf(identity, 1);
      *request.mutable_hello() = hello;
      office.clients.OnHello(identity, kOwner, hello,
                             office.clients.Admit(identity, kOwner, request));
    }
    office.replies.clear();
    office.clients.SayGoodbye("cluster 'x' was stopped");
    QCOMPARE(office.replies.size(), std::size_t{2});
    for (const auto& [identity, reply] : office.replies) {
      QVERIFY(identity == "a" || identity == "b");
      QCOMPARE(reply.id(), std::string());
      QCOMPARE(reply.goodbye().text(), std::string("cluster 'x' was stopped"));
    }
    QVERIFY(office.replies[0].first != office.replies[1].first);
  }

  void aQuestionIsAnsweredEachTime() {
    Office office;
    wire::Request status = RequestOf("question", 1);
    status.mutable_status();
    const ReplyPtr first = office.clients.Admit("old", kOwner, status);
    const ReplyPtr second = office.clients.Admit("new", kOwner, status);
    QVERIFY(first && second && first != second);
  }

  // Every request that a later version may add is an operator's, unless it is listed here.
  void aViewerOnlyLooks() {
    const std::set<std::string> looks = {
        "hello",     "status",    "plan",   "propose",  "txn",
        "history",   "samples",   "events", "changes",  "doctor",
        "log",       "program",   "jobs",   "topology", "list_checkpoints",
        "registrar", "check_mesh"};
    Office office;
    const auto* const type = wire::Request::descriptor();
    std::set<std::string> admitted;
    for (int i = 0; i < type->field_count(); ++i) {
      const auto* const field = type->field(i);
      if (field->containing_oneof() == nullptr) continue;
      wire::Request request = RequestOf("id" + std::to_string(i), 1);
      request.GetReflection()->MutableMessage(&request, field);
      QVERIFY(office.clients.Admit("a", kOwner, request));
      office.replies.clear();
      const std::string name(field->name());
      if (office.clients.Admit("b", {"guest", Role::kViewer}, request)) {
        admitted.insert(name);
      } else {
        QCOMPARE(office.replies.size(), std::size_t{1});
        QCOMPARE(office.replies[0].first, std::string("b"));
        const Error error = Decode(office.replies[0].second.error());
        QCOMPARE(error.code, ErrorCode::kPermissionDenied);
        const std::string words =
            name == "job" ? "job stop" : std::regex_replace(name, std::regex("_"), " ");
        QCOMPARE(error.message,
                 "'" + words + "' needs an operator's key; key 'guest' is a viewer's");
      }
      QVERIFY(!office.clients.Admit("c", {"n1", Role::kNode, 1}, request));
    }
    QVERIFY(admitted == looks);
    wire::Request measure = RequestOf("m", 1);
    measure.mutable_topology()->set_measure(true);
    QVERIFY(!office.clients.Admit("b", {"guest", Role::kViewer}, measure));
  }

  void aViewerGetsNoReplyOfAnOperatorsAct() {
    Office office;
    wire::Request request = RequestOf("act", 1);
    request.mutable_digest()->set_job("j");
    const ReplyPtr reply = office.clients.Admit("a", kOwner, request);
    QVERIFY(!office.clients.Admit("b", {"guest", Role::kViewer}, request));
    office.replies.clear();
    reply->Done({});
    QCOMPARE(office.replies.size(), std::size_t{1});
    QCOMPARE(office.replies[0].first, std::string("a"));
  }

  // It is kept as long as the replies are, and shown.
  void whatClientsSayIsBounded() {
    Office office;
    wire::Request request = RequestOf(std::string(300, 'i'), 1);
    request.mutable_status();
    QVERIFY(!office.clients.Admit("a", kOwner, request));
    QCOMPARE(Decode(office.replies.at(0).second.error()).message,
             std::string("the id of a request has 300 bytes, 256 are allowed"));
    wire::Request hello = RequestOf("h", 2);
    hello.mutable_hello()->set_major(kProtocolMajor);
    hello.mutable_hello()->set_minor(kProtocolMinor);
    hello.mutable_hello()->set_user(std::string(5000, 'u'));
    office.clients.OnHello("a", kOwner, hello.hello(), office.clients.Admit("a", kOwner, hello));
    wire::Request status = RequestOf("s", 3);
    status.mutable_status();
    QCOMPARE(office.clients.Admit("a", kOwner, status)->requester().size(),
             std::string("laptop: ").size() + 256);
  }

  // What a client says about itself is beside the name of its key.
  void theRequesterIsTheKey() {
    Office office;
    QCOMPARE(office.clients.Admit("silent", kOwner, RequestOf("s", 1))->requester(),
             std::string("laptop"));
    wire::Hello hello;
    hello.set_major(kProtocolMajor);
    hello.set_minor(kProtocolMinor);
    hello.set_program("tesseractl 0.1.0");
    hello.set_user("lena@lab3");
    office.clients.OnHello("a", kOwner, hello,
                           office.clients.Admit("a", kOwner, RequestOf("h", 1)));
    QCOMPARE(office.replies.back().second.hello().role(), std::string("operator"));
    QCOMPARE(office.replies.back().second.hello().key_name(), std::string("laptop"));
    QCOMPARE(office.clients.Admit("a", kOwner, RequestOf("x", 2))->requester(),
             std::string("laptop: tesseractl, lena@lab3"));
    hello.set_minor(kProtocolMinor + 1);
    office.clients.OnHello("a", kOwner, hello,
                           office.clients.Admit("a", kOwner, RequestOf("h", 3)));
    const Error refused = Decode(office.replies.back().second.error());
    QVERIFY2(refused.message.starts_with("protocol ") &&
                 refused.message.find(" of tesseractl 0.1.0 is not ") != std::string::npos,
             refused.message.c_str());
  }
};

TESSERA_TEST_APPLESS(ClientsTest)
#include "clients_test.moc"
