// SPDX-License-Identifier: Apache-2.0
#include "agents/net/socket.h"

#include <sys/stat.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <cstring>
#include <functional>

#include "agents/net/local_address.h"
#include "agents/net/loop.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

std::vector<Frame> Frames(std::initializer_list<std::string> texts) {
  std::vector<Frame> frames;
  for (const auto& text : texts) frames.push_back(Frame::Of(text));
  return frames;
}

/// Runs a loop until `socket` has a message.
std::optional<Message> Wait(Socket& socket, std::chrono::milliseconds limit = 10s) {
  Loop loop;
  loop.Watch(socket, [&] { loop.Stop(); });
  loop.After(limit, [&] { loop.Stop(); });
  loop.Run();
  auto message = socket.Receive();
  return message ? std::move(*message) : std::nullopt;
}

/// The first event of a wanted kind.
std::optional<LinkEvent> WaitLink(Socket& socket, std::vector<LinkEvent::Kind> kinds,
                                  std::chrono::milliseconds limit = 10s) {
  std::optional<LinkEvent> found;
  Loop loop;
  loop.Watch(socket.monitor(), [&] {
    while (auto event = socket.NextLinkEvent()) {
      if (std::find(kinds.begin(), kinds.end(), event->kind) == kinds.end()) continue;
      found = event;
      loop.Stop();
      return;
    }
  });
  loop.After(limit, [&] { loop.Stop(); });
  loop.Run();
  return found;
}

}  // namespace

class SocketTest : public QObject {
  Q_OBJECT
 private:
  static void refuseThenAdmit() {
    NetContext context;
    const CurveKeys server_keys = NewCurveKeys();
    const CurveKeys client_keys = NewCurveKeys();
    auto router = *Socket::Server(context, SocketKind::kRouter, server_keys);
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    for (const bool allowed : {false, true}) {
      if (allowed) context.SetAllowed({client_keys.public_key});
      auto dealer =
          *Socket::Client(context, SocketKind::kDealer, client_keys, server_keys.public_key);
      QVERIFY(dealer.Monitor(context));
      QVERIFY(dealer.Connect(endpoint));
      const auto event = WaitLink(dealer, {LinkEvent::Kind::kRefused, LinkEvent::Kind::kReady});
      QVERIFY(event);
      QCOMPARE(event->kind, allowed ? LinkEvent::Kind::kReady : LinkEvent::Kind::kRefused);
    }
  }

 private slots:
  void ipv6CarriesMessages() {
    if (!QFile::exists(QStringLiteral("/proc/net/if_inet6"))) QSKIP("this machine has no IPv6");
    NetContext context;
    auto server = *Socket::Server(context, SocketKind::kRouter, {});
    const auto bound = server.Bind("tcp://[::1]:*");
    QVERIFY2(bound.has_value(), bound ? "" : bound.error().message.c_str());
    QVERIFY(bound->starts_with("tcp://[::1]:"));
    auto client = *Socket::Client(context, SocketKind::kDealer, {}, "");
    QVERIFY(client.Connect(*bound));
    QVERIFY(client.Send(Frames({"hello"})));
    QVERIFY(Wait(server).has_value());
  }

  void namesBecomeAddresses() {
    const auto numeric = [](const char* endpoint) {
      return QString::fromStdString(NumericEndpoint(endpoint).value_or("refused"));
    };
    QCOMPARE(numeric("tcp://localhost:7400"), QStringLiteral("tcp://127.0.0.1:7400"));
    for (const char* endpoint : {"tcp://10.1.2.3:7400", "tcp://[fe80::1]:*", "tcp://*:1", "tcp://lo:1"})
      QCOMPARE(numeric(endpoint), QString::fromLatin1(endpoint));
    // A host without an IPv4 address: the resolver takes this text as its name.
    QCOMPARE(numeric("tcp://::1:7400"), QStringLiteral("tcp://[::1]:7400"));
    const auto unknown = NumericEndpoint("tcp://no-such-host.invalid:1");
    QVERIFY(!unknown && unknown.error().message.starts_with("'no-such-host.invalid': "));
  }

  void aNameWithOnlyAnIpv6AddressIsReached() {
    QCOMPARE(ConnectableEndpoint("tcp://localhost:1"), std::string("tcp://localhost:1"));
    QCOMPARE(ConnectableEndpoint("tcp://no-such-host.invalid:1"),
             std::string("tcp://no-such-host.invalid:1"));
    if (!QFile::exists(QStringLiteral("/proc/net/if_inet6"))) QSKIP("this machine has no IPv6");
    NetContext context;
    auto server = *Socket::Server(context, SocketKind::kRouter, {});
    const std::string port = server.Bind("tcp://[::1]:*")->substr(std::strlen("tcp://[::1]:"));
    auto client = *Socket::Client(context, SocketKind::kDealer, {}, "");
    QVERIFY(client.Connect(ConnectableEndpoint("tcp://::1:" + port)));
    QVERIFY(client.Send(Frames({"hello"})));
    QVERIFY(Wait(server).has_value());
  }

  void encryptedMessagesGoBothWays() {
    NetContext server_context;
    NetContext client_context;
    const CurveKeys server_keys = NewCurveKeys();
    const CurveKeys client_keys = NewCurveKeys();
    server_context.SetAllowed({client_keys.public_key});
    auto router = *Socket::Server(server_context, SocketKind::kRouter, server_keys);
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    auto dealer =
        *Socket::Client(client_context, SocketKind::kDealer, client_keys, server_keys.public_key);
    QVERIFY(dealer.SetIdentity("n1"));
    QVERIFY(dealer.Connect(endpoint));
    QVERIFY(dealer.Send(Frames({"first", "", std::string(100000, 'x')})));

    const auto request = Wait(router);
    QVERIFY(request);
    QCOMPARE(request->size(), std::size_t{4});
    QVERIFY(request->Text(0) == "n1");
    QVERIFY(request->Text(1) == "first");
    QVERIFY(request->Text(2).empty());
    QVERIFY(request->Text(3) == std::string(100000, 'x'));
    QVERIFY(request->sender_key() == client_keys.public_key);

    QVERIFY(router.Send(Frames({"n1", "back"})));
    const auto reply = Wait(dealer);
    QVERIFY(reply);
    QVERIFY(reply->Text(0) == "back");
    QCOMPARE(server_context.num_refused(), std::int64_t{0});
  }

  void aKeyThatIsNotAllowedIsRefusedAndToldSo() {
    NetContext context;
    const CurveKeys server_keys = NewCurveKeys();
    context.SetAllowed({NewCurveKeys().public_key});
    auto router = *Socket::Server(context, SocketKind::kRouter, server_keys);
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    auto dealer =
        *Socket::Client(context, SocketKind::kDealer, NewCurveKeys(), server_keys.public_key);
    QVERIFY(dealer.Monitor(context));
    QVERIFY(dealer.Connect(endpoint));
    QVERIFY(dealer.Send(Frames({"let me in"})));
    const auto event = WaitLink(dealer, {LinkEvent::Kind::kRefused});
    QVERIFY(event);
    QCOMPARE(context.num_refused(), std::int64_t{1});
    QVERIFY(!*router.Receive());
  }

  // Who refuses it can say which key it was, until the key is allowed.
  void aRefusedKeyIsNamed() {
    NetContext context;
    const CurveKeys server_keys = NewCurveKeys(), client_keys = NewCurveKeys();
    context.SetAllowed({NewCurveKeys().public_key});
    auto router = *Socket::Server(context, SocketKind::kRouter, server_keys);
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    auto dealer =
        *Socket::Client(context, SocketKind::kDealer, client_keys, server_keys.public_key);
    QVERIFY(dealer.Monitor(context));
    QVERIFY(dealer.Connect(endpoint));
    QVERIFY(WaitLink(dealer, {LinkEvent::Kind::kRefused}));
    const std::vector<RefusedKey> refused = context.refused_keys().All();
    QCOMPARE(refused.size(), std::size_t{1});
    QCOMPARE(refused[0].key, client_keys.public_key);
    QCOMPARE(refused[0].address, std::string("127.0.0.1"));
    QCOMPARE(ToString(refused[0]),
             "key '" + client_keys.public_key.substr(0, 10) + "' from 127.0.0.1");
    context.SetAllowed({client_keys.public_key});
    QVERIFY(context.refused_keys().All().empty());
  }

  void refusedKeysAreReportedSeldom() {
    RefusedKeys keys;
    auto now = RefusedKeys::Clock::time_point{} + 1h;
    const auto report = [&] {
      const auto due = keys.TakeReport(now);
      return due ? due->key + " " + std::to_string(due->count) : std::string();
    };
    keys.Note("a", "10.0.0.7", now);
    keys.Note("b", "10.0.0.8", now);
    QCOMPARE(report(), std::string("a 1"));
    QCOMPARE(report(), std::string());  // not two at a time
    now += RefusedKeys::kReportEvery;
    QCOMPARE(report(), std::string("b 1"));
    // A node tries again and again.
    std::vector<std::string> reports;
    for (int i = 0; i < 200; ++i) {
      now += RefusedKeys::kReportEvery;
      keys.Note("a", "10.0.0.7", now);
      if (const std::string text = report(); !text.empty()) reports.push_back(text);
    }
    QCOMPARE(reports, (std::vector<std::string>{"a 10", "a 100"}));
    // Whoever makes up keys displaces their own.
    for (int i = 0; i < 1000; ++i) {
      keys.Note("made up " + std::to_string(i), "10.0.0.9", now);
      keys.Note("a", "10.0.0.7", now + 1s);
    }
    QCOMPARE(keys.All().size(), RefusedKeys::kMost);
    const std::vector<RefusedKey> all = keys.All();
    QVERIFY(std::ranges::any_of(all, [](const RefusedKey& key) { return key.key == "a"; }));
  }

  // Repeatedly: closing a socket that was just refused must not delay events of other sockets.
  void anEmptyListRefusesEverybodyAndALaterListAdmits() {
    for (int i = 0; i < 40; ++i) refuseThenAdmit();
  }

  void aClientOfAnotherServerKeyFailsItsHandshake() {
    NetContext context;
    const CurveKeys client_keys = NewCurveKeys();
    context.SetAllowed({client_keys.public_key});
    auto router = *Socket::Server(context, SocketKind::kRouter, NewCurveKeys());
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    auto dealer =
        *Socket::Client(context, SocketKind::kDealer, client_keys, NewCurveKeys().public_key);
    QVERIFY(dealer.Monitor(context));
    QVERIFY(dealer.Connect(endpoint));
    QVERIFY(WaitLink(dealer, {LinkEvent::Kind::kHandshakeFailed}));
  }

  void anUnencryptedClientGetsNothingThrough() {
    NetContext context;
    context.SetAllowed({NewCurveKeys().public_key});
    auto router = *Socket::Server(context, SocketKind::kRouter, NewCurveKeys());
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    auto dealer = *Socket::Client(context, SocketKind::kDealer, {}, {});
    QVERIFY(dealer.Connect(endpoint));
    QVERIFY(dealer.Send(Frames({"in the clear"})));
    QVERIFY(!Wait(router, 300ms));
  }

  void nobodyListeningIsReported() {
    NetContext context;
    auto probe = *Socket::Server(context, SocketKind::kRouter, {});
    const std::string endpoint = *probe.Bind("tcp://127.0.0.1:*");
    { const Socket closed = std::move(probe); }
    auto dealer = *Socket::Client(context, SocketKind::kDealer, {}, {});
    QVERIFY(dealer.Monitor(context));
    QVERIFY(dealer.Connect(endpoint));
    const auto event = WaitLink(dealer, {LinkEvent::Kind::kUnreachable});
    QVERIFY(event);
    QCOMPARE(event->endpoint, endpoint);
  }

  void aPortInUseIsNamed() {
    NetContext context;
    auto first = *Socket::Server(context, SocketKind::kRouter, {});
    const std::string endpoint = *first.Bind("tcp://127.0.0.1:*");
    auto second = *Socket::Server(context, SocketKind::kRouter, {});
    const auto bound = second.Bind(endpoint);
    QVERIFY(!bound);
    QCOMPARE(bound.error(), Unavailable("port in use: " + endpoint));
    const auto nonsense = second.Bind("nonsense");
    QVERIFY(!nonsense);
    QCOMPARE(nonsense.error().code, ErrorCode::kInvalidArgument);
    QVERIFY(nonsense.error().message.find("nonsense") != std::string::npos);
  }

  void aRouterRefusesToSendWhereNoRouteExists() {
    NetContext context;
    auto router = *Socket::Server(context, SocketKind::kRouter, {});
    QVERIFY(router.Bind("tcp://127.0.0.1:*"));
    const auto sent = router.Send(Frames({"n7", "x"}));
    QVERIFY(!sent);
    QCOMPARE(sent.error(), Unavailable("no route to the peer"));
  }

  void aFullQueueSaysUnavailableAndLosesNothingElse() {
    NetContext context;
    auto dealer = *Socket::Client(context, SocketKind::kDealer, {}, {});
    QVERIFY(dealer.SetHighWater(4));
    auto router = *Socket::Server(context, SocketKind::kRouter, {});
    const std::string endpoint = *router.Bind("tcp://127.0.0.1:*");
    { const Socket closed = std::move(router); }
    QVERIFY(dealer.Connect(endpoint));
    int sent = 0;
    Status last;
    while (last && sent < 100) {
      last = dealer.Send(Frames({"part", std::to_string(sent)}));
      if (last) ++sent;
    }
    QCOMPARE(sent, 4);
    QCOMPARE(last.error().code, ErrorCode::kUnavailable);
  }

  // The bytes are not copied when they are sent, and their owner is released after that.
  void borrowedFramesKeepTheirOwnerAsLongAsNeeded() {
    NetContext context;
    auto pull = *Socket::Server(context, SocketKind::kPull, {});
    const std::string endpoint = *pull.Bind("tcp://127.0.0.1:*");
    auto push = *Socket::Client(context, SocketKind::kPush, {}, {});
    QVERIFY(push.Connect(endpoint));
    std::atomic<bool> released{false};
    {
      auto* data = new std::vector<std::byte>(1 << 20, std::byte{42});
      const std::shared_ptr<std::vector<std::byte>> owner(data, [&](auto* gone) {
        delete gone;
        released = true;
      });
      std::vector<Frame> frames;
      frames.push_back(Frame{{}, *owner, owner});
      QVERIFY(push.Send(std::move(frames)));
    }
    const auto message = Wait(pull);
    QVERIFY(message);
    QCOMPARE((*message)[0].size(), std::size_t{1} << 20);
    QVERIFY((*message)[0][123456] == std::byte{42});
    QTRY_VERIFY(released);
  }

  void publicationsReachSubscribers() {
    NetContext context;
    const CurveKeys server_keys = NewCurveKeys();
    const CurveKeys client_keys = NewCurveKeys();
    context.SetAllowed({client_keys.public_key});
    auto pub = *Socket::Server(context, SocketKind::kPub, server_keys);
    const std::string endpoint = *pub.Bind("tcp://127.0.0.1:*");
    auto sub = *Socket::Client(context, SocketKind::kSub, client_keys, server_keys.public_key);
    QVERIFY(sub.Subscribe("a"));
    QVERIFY(sub.Connect(endpoint));
    // Messages published before the subscription are lost, so publish until one arrives.
    std::optional<Message> message;
    for (int i = 0; i < 500 && !message; ++i) {
      QVERIFY(pub.Send(Frames({"b not this"})));
      QVERIFY(pub.Send(Frames({"a this"})));
      message = Wait(sub, 20ms);
    }
    QVERIFY(message);
    QVERIFY(message->Text(0) == "a this");
  }

  void keysSurviveTheirFile() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("keys").toStdString();
    const CurveKeys keys = NewCurveKeys();
    QCOMPARE(keys.public_key.size(), std::size_t{40});
    QVERIFY(SaveKeys(keys, path));
    QVERIFY(SaveKeys(keys, path));  // again, over the old one
    struct stat info {};
    QCOMPARE(::stat(path.c_str(), &info), 0);
    QCOMPARE(info.st_mode & 0777U, 0600U);
    const auto loaded = LoadKeys(path);
    QVERIFY(loaded);
    QCOMPARE(loaded->public_key, keys.public_key);
    QCOMPARE(loaded->secret_key, keys.secret_key);
    QCOMPARE(LoadKeys(path + "x").error().code, ErrorCode::kNotFound);
  }

  void badKeyFilesAreNamedWithTheirLine_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    const CurveKeys keys = NewCurveKeys();
    const QString good = QString::fromStdString("public " + keys.public_key);
    const QString other = QString::fromStdString(NewCurveKeys().secret_key);
    QTest::newRow("unknown word")
        << good + "\nprivate x\n"
        << ":2: line is none of 'public KEY', 'secret KEY' and 'role ROLE'";
    QTest::newRow("short key") << "public abc\n"
                               << ":1: public key of 3 characters is not 40 characters of Z85";
    QTest::newRow("twice") << good + "\n" + good + "\n"
                           << ":2: second public key";
    QTest::newRow("empty") << ""
                           << ": no public key";
    QTest::newRow("one only") << good + "\n"
                              << ": no secret key";
    QTest::newRow("not a pair") << good + "\nsecret " + other + "\n"
                                << ": public key does not belong to the secret key";
  }
  void badKeyFilesAreNamedWithTheirLine() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    QTemporaryDir folder;
    const QString path = folder.filePath("keys");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
    file.close();
    const auto loaded = LoadKeys(path.toStdString());
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(loaded.error().message), path + message);
  }

  void aBadKeyIsRefusedBeforeAnySocketOpens() {
    NetContext context;
    CurveKeys keys = NewCurveKeys();
    keys.secret_key = "short";
    QCOMPARE(Socket::Server(context, SocketKind::kRouter, keys).error().code,
             ErrorCode::kInvalidArgument);
    QCOMPARE(Socket::Client(context, SocketKind::kDealer, NewCurveKeys(), "").error().code,
             ErrorCode::kInvalidArgument);
  }
};
TESSERA_TEST(SocketTest)
#include "socket_test.moc"
