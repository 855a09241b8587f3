// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "tests/folders.h"
#include "tests/meta/tree_rules.h"
#include "tests/support/test_main.h"

using tessera::test::CheckSource;
using tessera::test::CheckTree;

namespace {
const QString kApache = QStringLiteral("// SPDX-License-Identifier: Apache-2.0\n");
const QString kGpl = QStringLiteral("// SPDX-License-Identifier: GPL-3.0-or-later\n");
}  // namespace

class LayeringTest : public QObject {
  Q_OBJECT

 private slots:
  void treeKeepsTheRules() {
    int numFiles = 0;
    const auto complaints = CheckTree(TESSERA_SOURCE_DIR, &numFiles);
    for (const std::string& line : complaints) qWarning("%s", line.c_str());
    QVERIFY2(numFiles > 100, qPrintable(QStringLiteral("only %1 files were read").arg(numFiles)));
    QCOMPARE(complaints.size(), std::size_t{0});
  }

  void ruleBites_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("complaint");
    const auto row = [](const char* name, const char* path, const QString& text,
                        const char* complaint) {
      QTest::newRow(name) << QString::fromLatin1(path) << text << QString::fromLatin1(complaint);
    };
    row("ptc sees engine", "ptc/a.cpp", kApache + "#include \"engine/store/arena.h\"\n",
        "ptc/a.cpp:2: ptc must not include engine/store/arena.h");
    row("engine sees agents", "engine/a.cpp",
        kApache + "\n  # include \"agents/net/loop.h\" // x\n",
        "engine/a.cpp:3: engine must not include agents/net/loop.h");
    row("ui sees agents", "ui/a.cpp", kGpl + "#include \"agents/client/cluster.h\"\n",
        "ui/a.cpp:2: ui must not include agents/client/cluster.h");
    row("agents see ui", "agents/a.cpp", kApache + "#include <ui/theme.h>\n",
        "agents/a.cpp:2: agents must not include ui/theme.h");
    row("code sees tests", "engine/a.cpp", kApache + "#include \"tests/support/random.h\"\n",
        "engine/a.cpp:2: engine must not include tests/support/random.h");
    row("Qt outside ui", "engine/a.cpp", kApache + "#include <QString>\n",
        "engine/a.cpp:2: QString may be included in ui/ only");
    row("zmq outside the sockets", "agents/node/a.cpp", kApache + "#include <zmq.h>\n",
        "agents/node/a.cpp:2: zmq.h may be included in agents/net/ only");
    row("the driver outside of gpu", "agents/move/a.cpp",
        kApache + "#include \"agents/gpu/driver_api.h\"\n",
        "agents/move/a.cpp:2: agents/gpu/driver_api.h may be included in agents/gpu/ only");
    row("libtorch outside the trainer", "agents/node/a.cpp", kApache + "#include <ATen/ATen.h>\n",
        "agents/node/a.cpp:2: ATen/ATen.h may be included in agents/train/ only");
    row("a path not from the root", "ptc/a.cpp", kApache + "#include \"box.h\"\n",
        "ptc/a.cpp:2: 'box.h' is not named from the root of the tree");
    row("a host address of a device", "agents/node/a.cpp",
        kApache + "auto* x = arena.AddressOf(0);\n",
        "agents/node/a.cpp:2: takes a host address of a device's memory");
    row("a cell in place", "agents/node/a.cpp", kApache + "const auto x = cell.InPlace(0, 8);\n",
        "agents/node/a.cpp:2: takes a host address of a device's memory");
    row("no licence", "ptc/a.cpp", QStringLiteral("#include <vector>\n"),
        "ptc/a.cpp:1: no line 'SPDX-License-Identifier: Apache-2.0' at the beginning");
    row("the other licence", "app/a.cpp", kApache,
        "app/a.cpp:1: names another licence than its folder's, GPL-3.0-or-later");
    row("no licence in CMake", "ui/CMakeLists.txt", QStringLiteral("project(x)\n"),
        "ui/CMakeLists.txt:1: no line 'SPDX-License-Identifier: GPL-3.0-or-later' at the "
        "beginning");
    row("no licence in a script", "packaging/debian/postinst", QStringLiteral("#!/bin/sh\n"),
        "packaging/debian/postinst:1: no line 'SPDX-License-Identifier: Apache-2.0' at the "
        "beginning");
    row("the other licence in a page", "resources/guide/a.md",
        QStringLiteral("<!-- SPDX-License-Identifier: GPL-3.0-or-later -->\n"),
        "resources/guide/a.md:1: names another licence than its folder's, Apache-2.0");
    row("no guard", "ptc/a.h", kApache + "/// \\file\n", "ptc/a.h:1: no #pragma once");
    row("no file comment", "ptc/a.h", kApache + "#pragma once\n",
        "ptc/a.h:1: no /// \\file comment");
  }
  void ruleBites() {
    QFETCH(QString, path);
    QFETCH(QString, text);
    QFETCH(QString, complaint);
    const auto complaints = CheckSource(path.toStdString(), text.toStdString());
    QCOMPARE(complaints.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(complaints[0]), complaint);
  }

  void rightSourcesPass_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::newRow("layers below") << "agents/a.cpp"
                                  << kApache + "#include \"engine/a.h\"\n#include \"ptc/b.h\"\n";
    QTest::newRow("app sees all")
        << "app/a.cpp"
        << kGpl + "#include \"agents/a.h\"\n#include \"ui/b.h\"\n#include <QObject>\n";
    QTest::newRow("the moc file of a test")
        << "tests/ptc/a.cpp" << kApache + "#include <QTest>\n#include \"a.moc\"\n";
    QTest::newRow("a script")
        << "packaging/demo"
        << QStringLiteral("#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n");
  }
  void rightSourcesPass() {
    QFETCH(QString, path);
    QFETCH(QString, text);
    const auto complaints = CheckSource(path.toStdString(), text.toStdString());
    QVERIFY2(complaints.empty(), complaints.empty() ? "" : complaints[0].c_str());
  }
};

TESSERA_TEST_APPLESS(LayeringTest)
#include "layering_test.moc"
