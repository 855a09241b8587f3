// SPDX-License-Identifier: Apache-2.0
#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <mutex>
#include <random>
#include <set>

#include "agents/client/cluster.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;
using test::FakeRegistrar;

namespace {

wire::Request StatusRequest() {
  wire::Request request;
  request.mutable_status();
  return request;
}
wire::Request JobRequest(const std::string& job) {
  wire::Request request;
  request.mutable_job()->set_job(job);
  return request;
}
engine::Event EventOf(std::int64_t sequence) {
  return {sequence, 1.5, engine::Severity::kInfo, "n0", "event " + std::to_string(sequence)};
}

/// Everything that a client received.
struct Seen {
  std::mutex mutex;
  std::vector<std::pair<LinkState, std::string>> links;
  std::vector<engine::ClusterSnapshot> snapshots;
  std::vector<std::shared_ptr<const engine::ClusterSnapshot>> shared;  // the same, as handed out
  std::vector<engine::Event> events;
  std::vector<engine::Sample> samples;
  // With the number of events that had come before.
  std::vector<std::pair<std::string, std::size_t>> incarnations;
  std::int64_t malformed = 0;
  std::string last_malformed;

  ClusterClient::Handlers Handlers() {
    ClusterClient::Handlers handlers;
    handlers.link = [this](LinkState state, std::string detail) {
      const std::lock_guard lock(mutex);
      links.emplace_back(state, std::move(detail));
    };
    handlers.snapshot = [this](const std::shared_ptr<const engine::ClusterSnapshot>& snapshot) {
      const std::lock_guard lock(mutex);
      snapshots.push_back(*snapshot);
      shared.push_back(snapshot);
    };
    handlers.event = [this](const engine::Event& event) {
      const std::lock_guard lock(mutex);
      events.push_back(event);
    };
    handlers.incarnation = [this](const std::string& id) {
      const std::lock_guard lock(mutex);
      incarnations.emplace_back(id, events.size());
    };
    handlers.sample = [this](const engine::Sample& sample) {
      const std::lock_guard lock(mutex);
      samples.push_back(sample);
    };
    handlers.malformed = [this](std::int64_t count, const std::string& what) {
      const std::lock_guard lock(mutex);
      malformed = count;
      last_malformed = what;
    };
    return handlers;
  }
  bool Reached(LinkState state) {
    const std::lock_guard lock(mutex);
    return !links.empty() && links.back().first == state;
  }
  std::string Detail() {
    const std::lock_guard lock(mutex);
    return links.empty() ? "" : links.back().second;
  }
  std::vector<std::int64_t> EventSequences() {
    const std::lock_guard lock(mutex);
    std::vector<std::int64_t> sequences;
    for (const auto& event : events) sequences.push_back(event.sequence);
    return sequences;
  }
  std::size_t NumEvents() { return EventSequences().size(); }
  std::size_t NumSnapshots() {
    const std::lock_guard lock(mutex);
    return snapshots.size();
  }
  std::int64_t Malformed() {
    const std::lock_guard lock(mutex);
    return malformed;
  }
  std::size_t NumSamples() {
    const std::lock_guard lock(mutex);
    return samples.size();
  }
};

std::vector<std::int64_t> Sequences(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> sequences;
  for (std::int64_t i = from; i <= to; ++i) sequences.push_back(i);
  return sequences;
}

int CountEntries(const char* folder) {
  return static_cast<int>(
      QDir(folder).entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System).size());
}

}  // namespace

class ClusterClientTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder;
  std::unique_ptr<FakeRegistrar> registrar;
  CurveKeys keys;
  Profile profile;

  // Publishes until the client has subscribed, because ZeroMQ does not report a subscription.
  void publishSampleUntilSeen(Seen& seen) {
    for (int i = 0; i < 1000 && seen.NumSamples() == 0; ++i) {
      registrar->Do([&] {
        wire::Published message;
        Encode(engine::Sample{"gpt", 1, 2.5, 1, 100, 0}, message.mutable_sample());
        registrar->Publish(message);
      });
      QTest::qWait(5);
    }
    QVERIFY(seen.NumSamples() > 0);
  }
  // Publishes after the connection: an earlier publication would cause no second request.
  void waitForTwoSnapshots(Seen& seen) {
    QTRY_COMPARE(seen.NumSnapshots(), std::size_t{1});
    publishSampleUntilSeen(seen);
    QTRY_COMPARE(seen.NumSnapshots(), std::size_t{2});
  }
  int count(wire::Request::BodyCase body) {
    int found = 0;
    registrar->Do([&] { found = registrar->num_of(body); });
    return found;
  }

 private slots:
  void init() {
    folder = std::make_unique<QTemporaryDir>();
    registrar = std::make_unique<FakeRegistrar>();
    keys = NewCurveKeys();
    registrar->Allow({keys.public_key});
    const std::string key_file = folder->filePath("client.key").toStdString();
    QVERIFY(SaveKeys(keys, key_file));
    profile = Profile{"test",
                      registrar->commands_endpoint(),
                      registrar->events_endpoint(),
                      registrar->keys().public_key,
                      key_file,
                      ""};
  }
  void cleanup() {
    registrar.reset();
    folder.reset();
  }

  void aCallGetsItsReplyOrItsError() {
    registrar->Do([&] { registrar->snapshot.sequence = 7; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 5s);
    QVERIFY(reply);
    QCOMPARE(reply->status().sequence(), std::int64_t{7});
    const auto error = (*client)->CallAndWait(JobRequest("x"), 5s);
    QVERIFY(!error);
    QCOMPARE(error.error(), NotFound("test: no answer to this"));
    QCOMPARE(count(wire::Request::kHello), 1);
    // A client for commands sends no requests of its own.
    QCOMPARE(count(wire::Request::kStatus), 1);
    QCOMPARE(count(wire::Request::kEvents), 0);
  }

  void manyCallsFromManyThreadsAreEachDoneOnce() {
    registrar->Do([&] {
      registrar->answer = [](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_job()) return std::nullopt;
        wire::Reply reply;
        reply.mutable_job()->set_step(std::stoll(request.job().job()));
        return reply;
      };
    });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    std::atomic<int> done{0};
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          const int number = t * 100 + i;
          (*client)->Call(JobRequest(std::to_string(number)), 20s,
                          [&, number](Result<wire::Reply> reply) {
                            if (reply && reply->job().step() == number) ++right;
                            ++done;
                          });
        }
      });
    }
    for (auto& thread : threads) thread.join();
    QTRY_COMPARE(done.load(), 400);
    QCOMPARE(right.load(), 400);
    registrar->Do([&] {
      std::set<std::string> ids;
      for (const auto& request : registrar->requests) ids.insert(request.id());
      QCOMPARE(ids.size(), registrar->requests.size());
      QCOMPARE(ids.begin()->size(), std::size_t{32});
    });
  }

  // The registrar stops before it answers the request, and restarts on the same ports.
  void aRetryAfterAReconnectCarriesTheSameId() {
    registrar->Do([&] { registrar->swallow = true; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    std::promise<Result<wire::Reply>> promise;
    std::atomic<int> done{0};
    (*client)->Call(JobRequest("5"), 30s, [&](Result<wire::Reply> reply) {
      if (++done == 1) promise.set_value(std::move(reply));
    });
    QTRY_COMPARE(count(wire::Request::kJob), 1);
    registrar->Do([&] {
      registrar->Close();
      registrar->swallow = false;
      registrar->answer = [](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_job()) return std::nullopt;
        wire::Reply reply;
        reply.mutable_job()->set_step(5);
        return reply;
      };
      registrar->Reopen();
    });
    const auto reply = promise.get_future().get();
    QVERIFY(reply);
    QCOMPARE(reply->job().step(), std::int64_t{5});
    registrar->Do([&] {
      std::vector<std::string> ids;
      for (const auto& request : registrar->requests) {
        if (request.has_job()) ids.push_back(request.id());
      }
      QCOMPARE(ids.size(), std::size_t{2});
      QCOMPARE(ids[0], ids[1]);
      QCOMPARE(registrar->num_of(wire::Request::kHello), 2);
    });
    QCOMPARE(done.load(), 1);
  }

  void noReplyIsATimeoutThatNamesEndpointAndSeconds() {
    registrar->Do([&] { registrar->swallow = true; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(JobRequest("x"), 1s);
    QVERIFY(!reply);
    QCOMPARE(reply.error(),
             Timeout("no reply to job from " + profile.registrar_endpoint + " within 1 s"));
  }

  void nobodyThereIsUnavailableWithTheReason() {
    registrar.reset();
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 500ms);
    QVERIFY(!reply);
    QCOMPARE(reply.error(),
             Unavailable("cannot reach " + profile.registrar_endpoint +
                         " within 500 ms: no process listens at " + profile.registrar_endpoint));
  }

  void aKeyThatIsNotAllowedIsRefused() {
    registrar->Allow({});
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 10s);
    const std::string text = "key refused by " + profile.registrar_endpoint +
                             ": this client's key is not in the cluster's allow-list";
    QVERIFY(!reply);
    QCOMPARE(reply.error(), FailedPrecondition(text));
    QVERIFY(seen.Reached(LinkState::kRefused));
    QCOMPARE(seen.Detail(), text);
    // After a refusal, calls fail at once.
    QCOMPARE((*client)->CallAndWait(StatusRequest(), 10s).error(), FailedPrecondition(text));
    // The key is added: the next attempt succeeds.
    registrar->Allow({keys.public_key});
    QTRY_VERIFY(seen.Reached(LinkState::kConnected));
    QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));
  }

  // A wait does not mend it.
  void aCommandDoesNotWaitForAServerWithAnotherKey() {
    profile.server_key = NewCurveKeys().public_key;
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 60min);  // the test ends before
    QVERIFY(!reply);
    QCOMPARE(reply.error(),
             FailedPrecondition("handshake with " + profile.registrar_endpoint +
                                " failed: it is not an agent with the server key of profile test"));
  }

  void aCommandDoesNotWaitWhereNobodyListens() {
    registrar.reset();
    auto client = ClusterClient::OpenForCommands(profile, 100ms);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 60min);
    QVERIFY(!reply);
    QCOMPARE(reply.error(), Unavailable("cannot reach " + profile.registrar_endpoint +
                                        ": no process has listened there for 100 ms"));
  }

  // A client that waits for a transaction would otherwise take the registrar for one that restarts.
  void aGoodbyeEndsTheCallsOfACommandAtOnce() {
    wire::Reply goodbye;
    goodbye.mutable_goodbye()->set_text("cluster 'test' was stopped on request");
    registrar->Do([&] { registrar->garbage = {goodbye.SerializeAsString()}; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto trace = std::make_shared<CallTrace>();
    const auto reply = (*client)->CallAndWait(JobRequest("x"), 60min, trace);
    QVERIFY(!reply);
    QCOMPARE(reply.error(), FailedPrecondition("cluster 'test' was stopped on request"));
    QVERIFY(trace->is_lost());
  }

  // Whether a request may have been carried out decides the exit code of its command.
  void itIsKnownWhetherARequestWasSent() {
    registrar->Do([&] { registrar->swallow = true; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto silent = std::make_shared<CallTrace>();
    QVERIFY(!(*client)->CallAndWait(JobRequest("x"), 500ms, silent));
    QVERIFY(silent->is_lost());
    registrar->Do([&] { registrar->swallow = false; });
    const auto answered = std::make_shared<CallTrace>();
    QVERIFY(!(*client)->CallAndWait(JobRequest("x"), 10s, answered));  // an error of the registrar
    QVERIFY(answered->was_sent && !answered->is_lost());
    registrar->Do([&] { registrar->Close(); });
    auto other = ClusterClient::OpenForCommands(profile);
    QVERIFY(other);
    const auto unsent = std::make_shared<CallTrace>();
    QVERIFY(!(*other)->CallAndWait(JobRequest("x"), 300ms, unsent));
    QVERIFY(!unsent->was_sent);
  }

  // An operator and a viewer of one cluster have a profile each.
  void aProfileMayHaveAnotherNameThanItsCluster() {
    profile.name = "test-view";
    profile.cluster = "test";
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    QVERIFY((*client)->CallAndWait(StatusRequest(), 10s));
    registrar->Do(
        [&] { QCOMPARE(registrar->requests.front().hello().cluster(), std::string("test")); });
  }

  void anotherServerKeyIsNamed() {
    profile.server_key = NewCurveKeys().public_key;
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    QTRY_VERIFY(seen.Reached(LinkState::kLost));
    QCOMPARE(seen.Detail(), "handshake with " + profile.registrar_endpoint +
                                " failed: it is not an agent with the server key of profile test");
  }

  void anotherProtocolVersionIsRefusedByName_data() {
    QTest::addColumn<int>("major");
    QTest::addColumn<int>("minor");
    QTest::newRow("major") << static_cast<int>(kProtocolMajor) + 1
                           << static_cast<int>(kProtocolMinor);
    QTest::newRow("minor") << static_cast<int>(kProtocolMajor)
                           << static_cast<int>(kProtocolMinor) + 1;
  }
  void anotherProtocolVersionIsRefusedByName() {
    QFETCH(int, major);
    QFETCH(int, minor);
    registrar->Do([&] {
      registrar->major = static_cast<std::uint32_t>(major);
      registrar->minor = static_cast<std::uint32_t>(minor);
    });
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 5s);
    const std::string text = "protocol " + std::to_string(major) + "." + std::to_string(minor) +
                             " of " + profile.registrar_endpoint + " is not " +
                             std::to_string(kProtocolMajor) + "." + std::to_string(kProtocolMinor) +
                             " of this program";
    QVERIFY(!reply);
    QCOMPARE(reply.error(), FailedPrecondition(text));
    QVERIFY(seen.Reached(LinkState::kRefused));
    QCOMPARE(seen.Detail(), text);
  }

  void theClusterSaysWhatTheKeyMayDo() {
    registrar->Do([&] { registrar->role = "viewer"; });
    Seen seen;
    std::promise<KeyOwner> promise;
    auto handlers = seen.Handlers();
    handlers.owner = [&](const KeyOwner& owner) { promise.set_value(owner); };
    auto client = ClusterClient::Open(profile, std::move(handlers));
    QVERIFY(client);
    QVERIFY((promise.get_future().get() == KeyOwner{"laptop", Role::kViewer}));
    QTRY_VERIFY(seen.Reached(LinkState::kConnected));
    QVERIFY2(seen.Detail().ends_with(" as viewer 'laptop'"), seen.Detail().c_str());
  }

  void aRoleThatIsNotKnownIsRefused() {
    registrar->Do([&] { registrar->role = "king"; });
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    QTRY_VERIFY(seen.Reached(LinkState::kRefused));
    QCOMPARE(seen.Detail(), std::string("role 'king' is not viewer, operator or node NUMBER"));
  }

  void theStreamIsDelivered() {
    registrar->Do([&] {
      registrar->snapshot.cluster = "first";
      for (int i = 1; i <= 550; ++i) registrar->history.push_back(EventOf(i));
    });
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    QTRY_COMPARE(seen.NumEvents(), std::size_t{500});
    QCOMPARE(seen.EventSequences(), Sequences(51, 550));
    QTRY_VERIFY(seen.NumSnapshots() > 0);
    QCOMPARE(seen.snapshots[0].cluster, std::string("first"));
    QVERIFY(seen.Reached(LinkState::kConnected));
    publishSampleUntilSeen(seen);
    registrar->Do([&] {
      registrar->snapshot.cluster = "second";
      registrar->PublishSnapshot();
      registrar->PublishEvent(EventOf(551));
    });
    QTRY_COMPARE(seen.NumEvents(), std::size_t{501});
    QCOMPARE(seen.EventSequences(), Sequences(51, 551));
    const std::lock_guard lock(seen.mutex);
    QCOMPARE(seen.snapshots.back().cluster, std::string("second"));
    QCOMPARE(seen.samples.back().loss, 2.5);
  }

  // Other threads read what was handed out while the client goes on.
  void aSnapshotThatWasHandedOutDoesNotChange() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    waitForTwoSnapshots(seen);
    for (int i = 0; i < 3; ++i) {
      registrar->Do([&] {
        registrar->snapshot.cluster = "change " + std::to_string(i);
        registrar->PublishSnapshot();
      });
    }
    QTRY_COMPARE(seen.NumSnapshots(), std::size_t{5});
    const std::lock_guard lock(seen.mutex);
    for (std::size_t i = 0; i < seen.shared.size(); ++i)
      QCOMPARE(*seen.shared[i], seen.snapshots[i]);
    QVERIFY(seen.shared[3] != seen.shared[4]);
  }

  // Two publications are lost. After the next one the client requests a snapshot and the missing
  // events, and delivers these in order, each once.
  void aGapAsksForASnapshotAndTheMissedEvents() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    publishSampleUntilSeen(seen);
    registrar->Do([&] { registrar->PublishEvent(EventOf(1)); });
    QTRY_COMPARE(seen.NumEvents(), std::size_t{1});
    // The first publication that arrives also causes requests, unless it is the very first one.
    // Wait until all requests are answered.
    QTRY_VERIFY([&] {
      const int before = count(wire::Request::kStatus);
      QTest::qWait(200);
      return count(wire::Request::kStatus) == before &&
             seen.NumSnapshots() == static_cast<std::size_t>(before);
    }());
    const int questions = count(wire::Request::kStatus);
    const std::size_t snapshots = seen.NumSnapshots();

    registrar->Do([&] {
      registrar->history.push_back(EventOf(2));
      registrar->history.push_back(EventOf(3));
      registrar->published += 2;  // lost
      registrar->PublishEvent(EventOf(4));
    });
    QTRY_COMPARE(seen.NumEvents(), std::size_t{4});
    QCOMPARE(seen.EventSequences(), Sequences(1, 4));
    QTRY_COMPARE(seen.NumSnapshots(), snapshots + 1);
    QCOMPARE(count(wire::Request::kStatus), questions + 1);

    // Without a gap there is no request.
    registrar->Do([&] { registrar->PublishEvent(EventOf(5)); });
    QTRY_COMPARE(seen.NumEvents(), std::size_t{5});
    QCOMPARE(count(wire::Request::kStatus), questions + 1);
  }

  void eventsMissedWhileAwayComeAfterTheReconnect() {
    Seen seen;
    registrar->Do([&] {
      for (int i = 1; i <= 3; ++i) registrar->history.push_back(EventOf(i));
    });
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    QTRY_COMPARE(seen.NumEvents(), std::size_t{3});
    registrar->Do([&] {
      registrar->Close();
      for (int i = 4; i <= 300; ++i) registrar->history.push_back(EventOf(i));
      registrar->published = 0;
      registrar->Reopen();
    });
    QTRY_COMPARE_WITH_TIMEOUT(seen.NumEvents(), std::size_t{300}, 15000);
    QCOMPARE(seen.EventSequences(), Sequences(1, 300));
    const std::lock_guard lock(seen.mutex);
    std::vector<LinkState> states;
    for (const auto& [state, detail] : seen.links) states.push_back(state);
    QCOMPARE(states.front(), LinkState::kConnecting);
    QVERIFY(std::count(states.begin(), states.end(), LinkState::kLost) >= 1);
    QCOMPARE(states.back(), LinkState::kConnected);
  }

  // The end of a cluster on purpose is no failure of the connection.
  void aStoppedClusterSaysWhenAndWho() {
    Seen seen;
    std::promise<ClusterEnd> promise;
    auto handlers = seen.Handlers();
    handlers.stopped = [&](const ClusterEnd& end) { promise.set_value(end); };
    auto client = ClusterClient::Open(profile, std::move(handlers));
    QVERIFY(client);
    publishSampleUntilSeen(seen);
    registrar->Do([&] {
      wire::Published message;
      message.mutable_goodbye()->set_by("lena: tesseractl, lena@lab3");
      message.mutable_goodbye()->set_time(1700000000);
      registrar->Publish(message);
    });
    QVERIFY((promise.get_future().get() == ClusterEnd{1700000000, "lena: tesseractl, lena@lab3"}));
    QTRY_VERIFY(seen.Reached(LinkState::kStopped));
    const std::string text = "the cluster at " + profile.registrar_endpoint +
                             " was stopped by lena: tesseractl, lena@lab3";
    QCOMPARE(seen.Detail(), text);
    // Nobody answers there, so calls fail at once.
    QCOMPARE((*client)->CallAndWait(StatusRequest(), 10s).error(), Unavailable(text));
    // It is started again: the client connects, and says nothing of the attempts before.
    QTRY_VERIFY_WITH_TIMEOUT(seen.Reached(LinkState::kConnected), 30000);
    const std::lock_guard lock(seen.mutex);
    QCOMPARE(seen.links[seen.links.size() - 2].first, LinkState::kStopped);
  }

  void aMalformedGoodbyeIsIgnored() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    publishSampleUntilSeen(seen);
    registrar->Do([&] {
      wire::Published message;
      message.mutable_goodbye()->set_time(std::numeric_limits<double>::infinity());
      registrar->Publish(message);
    });
    QTRY_COMPARE(seen.Malformed(), std::int64_t{1});
    QVERIFY(seen.Reached(LinkState::kConnected));
  }

  // The numbers of its events are below those that are known.
  void aClusterThatWasStartedAnewHasEventsOfItsOwn() {
    Seen seen;
    registrar->Do([&] {
      for (int i = 1; i <= 30; ++i) registrar->history.push_back(EventOf(i));
    });
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    QTRY_COMPARE(seen.NumEvents(), std::size_t{30});
    const auto restart = [&](const std::string& incarnation, int events) {
      registrar->Do([&] {
        registrar->Close();
        registrar->incarnation = incarnation;
        registrar->history.clear();
        for (int i = 1; i <= events; ++i) registrar->history.push_back(EventOf(i));
        registrar->published = 0;
        registrar->Reopen();
      });
    };
    restart("first", 31);
    QTRY_COMPARE_WITH_TIMEOUT(seen.NumEvents(), std::size_t{31}, 15000);
    restart("second", 2);
    QTRY_COMPARE_WITH_TIMEOUT(seen.NumEvents(), std::size_t{33}, 15000);
    std::vector<std::int64_t> expected = Sequences(1, 31);
    expected.insert(expected.end(), {1, 2});
    QCOMPARE(seen.EventSequences(), expected);
    const std::lock_guard lock(seen.mutex);
    QCOMPARE(seen.incarnations, (std::vector<std::pair<std::string, std::size_t>>{
                                    {"first", 0}, {"first", 30}, {"second", 31}}));
  }

  // The two sockets do not keep order between them.
  void changesOvertakeTheReplyWithTheState() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    waitForTwoSnapshots(seen);
    const auto change = [&](const std::string& cluster, const std::string& host) {
      registrar->snapshot.cluster = cluster;
      registrar->snapshot.nodes.resize(1);
      registrar->snapshot.nodes[0].host = host;
      registrar->PublishSnapshot();
    };
    // A message is lost, so the client asks, and two changes arrive before the answer. It has the
    // first of them.
    registrar->Do([&] {
      registrar->answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_status()) return std::nullopt;
        wire::Reply reply;
        engine::ClusterSnapshot then = registrar->snapshot;
        then.sequence = static_cast<std::int64_t>(registrar->published);
        change("third", "b");
        Encode(then, reply.mutable_status());
        std::this_thread::sleep_for(100ms);
        return reply;
      };
      ++registrar->published;
      change("second", "a");
    });
    QTRY_COMPARE(seen.NumSnapshots(), std::size_t{3});
    {
      const std::lock_guard lock(seen.mutex);
      QCOMPARE(seen.snapshots[2].cluster, std::string("third"));
      QCOMPARE(seen.snapshots[2].nodes.at(0).host, std::string("b"));
    }
    // A change from a state that the client does not have makes it ask again.
    registrar->Do([&] {
      registrar->answer = {};
      wire::Published strange;
      strange.mutable_change()->add_jobs("nobody");
      registrar->Publish(strange);
    });
    QTRY_COMPARE(seen.NumSnapshots(), std::size_t{4});
    const std::lock_guard lock(seen.mutex);
    QCOMPARE(seen.snapshots[3].cluster, std::string("third"));
  }

  // Nothing is applied to a state that lacks something.
  void aStateThatWasRefusedIsAskedForAgain() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    waitForTwoSnapshots(seen);
    std::atomic<int> refused = 0;
    registrar->Do([&] {
      registrar->answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_status() || ++refused > 1) return std::nullopt;
        wire::Reply reply;
        Encode(ResourceExhausted("too many requests"), reply.mutable_error());
        return reply;
      };
      registrar->snapshot.nodes.resize(1);
      registrar->LoseSnapshot();
      registrar->snapshot.cluster = "second";
      registrar->PublishSnapshot();
    });
    QTRY_COMPARE(refused.load(), 1);
    registrar->Do([&] {
      registrar->snapshot.cluster = "third";
      registrar->PublishSnapshot();
    });
    QTRY_COMPARE_WITH_TIMEOUT(seen.NumSnapshots(), std::size_t{3}, 10'000);
    const std::lock_guard lock(seen.mutex);
    QCOMPARE(seen.snapshots[2].cluster, std::string("third"));
    QCOMPARE(seen.snapshots[2].nodes.size(), std::size_t{1});
  }

  void malformedRepliesHarmNobody() {
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));
    registrar->Do([&] { registrar->garbage = {"\xff\xff\xff not a reply"}; });
    const auto lost = (*client)->CallAndWait(StatusRequest(), 300ms);
    QVERIFY(!lost);
    QCOMPARE(lost.error(), Timeout("no reply to status from " + profile.registrar_endpoint +
                                   " within 300 ms (malformed reply of 15 bytes from " +
                                   profile.registrar_endpoint + ")"));
    QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));
  }

  void aReplyOfAnotherKindIsAnError() {
    registrar->Do([&] {
      registrar->answer = [](const wire::Request&) -> std::optional<wire::Reply> {
        wire::Reply reply;
        reply.mutable_cancel();
        return reply;
      };
    });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    const auto reply = (*client)->CallAndWait(StatusRequest(), 5s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kDataLoss);
  }

  void malformedPublicationsHarmNobody() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    publishSampleUntilSeen(seen);
    registrar->Do([&] {
      wire::Published bad;
      bad.mutable_change()->mutable_rows()->add_nodes()->set_state(99);
      registrar->Publish(bad);
      bad.mutable_event()->set_severity(99);
      registrar->Publish(bad);
      registrar->PublishEvent(EventOf(1));
    });
    QTRY_COMPARE(seen.NumEvents(), std::size_t{1});
    {
      const std::lock_guard lock(seen.mutex);
      for (const auto& snapshot : seen.snapshots) QVERIFY(snapshot.nodes.empty());
      QCOMPARE(seen.malformed, std::int64_t{2});
      QVERIFY2(seen.last_malformed.starts_with("malformed event: "), seen.last_malformed.c_str());
    }
    registrar->Do([&] { registrar->PublishBytes("\xff\xff\xff no publication"); });
    const auto are_three = [&] {
      const std::lock_guard lock(seen.mutex);
      return seen.malformed == 3 && seen.last_malformed.starts_with("malformed publication of 18");
    };
    QTRY_VERIFY(are_three());
  }

  void tenThousandDamagedMessagesHarmNobody() {
    Seen seen;
    auto client = ClusterClient::Open(profile, seen.Handlers());
    QVERIFY(client);
    publishSampleUntilSeen(seen);
    // What the registrar really publishes, to be damaged.
    std::vector<std::string> whole;
    wire::Published message;
    message.set_sequence(7);
    engine::ClusterSnapshot before, after{"test", 0, 0, false, {}, {}, {}};
    after.nodes.resize(2);
    for (engine::NodeStatus& node : after.nodes) node.devices.resize(4);
    after.jobs.resize(1);
    Encode(engine::Advance(before, after), message.mutable_change());
    whole.push_back(message.SerializeAsString());
    Encode(EventOf(3), message.mutable_event());
    whole.push_back(message.SerializeAsString());
    Encode(engine::Sample{"gpt", 9, 2.5, 1, 100, 0}, message.mutable_sample());
    whole.push_back(message.SerializeAsString());

    std::mt19937_64 rng(test::Seed());
    const auto damaged = [&] {
      std::string bytes = whole[rng() % whole.size()];
      for (std::uint64_t i = 0, times = 1 + rng() % 8; i < times && !bytes.empty(); ++i) {
        const std::size_t at = rng() % bytes.size();
        switch (rng() % 4) {
          case 0:
            bytes[at] = static_cast<char>(rng());
            break;
          case 1:
            bytes.resize(at);
            break;
          case 2:
            bytes.insert(at, std::string(1 + rng() % 40, static_cast<char>(rng())));
            break;
          default:  // a length of two gigabytes, of which nothing follows
            bytes.insert(at, "\x0a\x80\x80\x80\x80\x08");
        }
      }
      return bytes;
    };
    for (int batch = 0; batch < 100; ++batch) {
      registrar->Do([&] {
        for (int i = 0; i < 100; ++i) registrar->PublishBytes(damaged());
      });
      QTest::qWait(2);
    }
    // It lives: it receives what follows, and has its calls answered.
    registrar->Do([&] { registrar->PublishEvent(EventOf(424242)); });
    const auto received = [&] {
      const std::lock_guard lock(seen.mutex);
      return std::ranges::any_of(seen.events,
                                 [](const auto& e) { return e.text == "event 424242"; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(received(), 10'000);
    QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));

    registrar->Do([&] {
      for (int i = 0; i < 300; ++i) registrar->garbage.push_back(damaged());
    });
    for (int i = 0; i < 300; ++i) (*client)->Call(StatusRequest(), 50ms, [](auto) {});
    QTest::qWait(100);
    QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));
  }

  void closingEndsOpenCalls() {
    registrar->Do([&] { registrar->swallow = true; });
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    std::vector<Error> errors;
    for (int i = 0; i < 10; ++i) {
      (*client)->Call(JobRequest("x"), 60s,
                      [&](Result<wire::Reply> reply) { errors.push_back(reply.error()); });
    }
    client->reset();
    QCOMPARE(errors.size(), std::size_t{10});
    for (const Error& error : errors) {
      QCOMPARE(error, Cancelled("connection to " + profile.registrar_endpoint + " was closed"));
    }
  }

  void waitingOnTheClientsOwnThreadIsRefused() {
    auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(client);
    std::promise<ErrorCode> code;
    (*client)->Call(StatusRequest(), 5s, [&](Result<wire::Reply>) {
      code.set_value((*client)->CallAndWait(StatusRequest(), 5s).error().code);
    });
    QCOMPARE(code.get_future().get(), ErrorCode::kFailedPrecondition);
  }

  void connectingManyTimesLeavesNoThreadsAndNoDescriptors() {
    const auto once = [&] {
      Seen seen;
      auto client = ClusterClient::Open(profile, seen.Handlers());
      QVERIFY(client);
      QVERIFY((*client)->CallAndWait(StatusRequest(), 5s));
    };
    for (int i = 0; i < 3; ++i) once();
    QTest::qWait(50);
    const int threads = CountEntries("/proc/self/task");
    const int descriptors = CountEntries("/proc/self/fd");
    for (int i = 0; i < 100; ++i) once();
    // The registrar's side of the last connections closes a moment later.
    QTRY_VERIFY(CountEntries("/proc/self/fd") <= descriptors);
    QTRY_VERIFY(CountEntries("/proc/self/task") <= threads);
  }

  void aMissingKeyFileIsNamed() {
    profile.key_file = "/nowhere/client.key";
    const auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(!client);
    QCOMPARE(client.error().ToString(), std::string("profile test: no key file "
                                                    "/nowhere/client.key"));
  }

  void aBadEndpointIsNamed() {
    profile.registrar_endpoint = "nonsense";
    const auto client = ClusterClient::OpenForCommands(profile);
    QVERIFY(!client);
    QCOMPARE(client.error().code, ErrorCode::kInvalidArgument);
    QVERIFY(client.error().message.find("nonsense") != std::string::npos);
  }
};
TESSERA_TEST(ClusterClientTest)
#include "cluster_client_test.moc"
