// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every verb of tesseractl about a cluster has its place in the panel: an action, which the menus
/// and the palette list. A new verb fails here until it has one, or a reason why not.

#include <QAction>
#include <QTest>
#include <map>
#include <string>

#include "app/bridge.h"
#include "app/commands/command.h"
#include "tests/support/widget_test_main.h"
#include "ui/actions/action_registry.h"
#include "ui/main_window.h"

using namespace tessera;

namespace {

/// Verb -> id of the action that does or shows the same.
const std::map<std::string, const char*> kPlaces = {
    {"up", "file.startLocal"},
    {"down", "cluster.stopLocal"},
    {"status", "view.live"},
    {"doctor", "cluster.doctor"},
    {"probe", "cluster.probe"},
    {"topology", "cluster.links"},
    {"logs", "cluster.logs"},
    {"events", "view.records"},
    {"job start", "cluster.startJob"},
    {"job list", "edit.goTo"},
    {"job describe", "edit.goTo"},
    {"job metrics", "history.exportPlots"},
    {"job logs", "cluster.logs"},
    {"job pause", "cluster.pauseJob"},
    {"job resume", "cluster.resumeJob"},
    {"job tune", "cluster.tuneJob"},
    {"job on-failure", "job.onFailureAsk"},
    {"job snapshots", "job.snapshotsOther"},
    {"job stop", "cluster.stopJob"},
    {"digest", "cluster.digest"},
    {"data show", "view.data"},
    {"propose", "view.draft"},
    {"plan", "view.draft"},
    {"apply", "plan.apply"},
    {"txn show", "view.flows"},
    {"txn cancel", "plan.cancelMove"},
    {"txn throttle", "plan.throttle"},
    {"history", "history.reload"},
    {"export", "history.saveReport"},
    {"checkpoint save", "job.saveCheckpoint"},
    {"checkpoint list", "cluster.checkpoints"},
    {"checkpoint load", "cluster.checkpoints"},
    {"checkpoint delete", "cluster.checkpoints"},
    {"mount", "cluster.mount"},
    {"unmount", "cluster.unmount"},
    {"keys new", "cluster.keys"},
    {"keys list", "cluster.keys"},
    {"keys revoke", "cluster.keys"},
    {"node give-up", "cluster.giveUpNode"},
    {"registrar show", "cluster.registrar"},
    {"profile add", "file.connect"},
    {"profile list", "file.connect"},
    {"profile use", "file.connect"},
    {"profile remove", "file.connect"},
    {"device fail", "cluster.failGpu"},
    {"node kill", "cluster.killNode"},
    {"node start", "cluster.startNode"},
    {"simulate speed", "simulation.speed20"},
    {"simulate slow", "simulation.slowGpu"},
    {"simulate cut", "simulation.cut"},
    {"simulate port", "simulation.slowPort"},
    {"simulate restart", "simulation.restart"},
    {"simulate add", "simulation.addNode"},
    {"scenario save", "history.saveScenario"},
    {"experiment consistency", "help.lesson"},
};

/// Verb -> why the panel has no action for it.
const std::map<std::string, const char*> kExempt = {
    {"txn decide", "the card of a decision appears by itself and has the choices"},
    {"job wait", "for scripts; the panel shows steps and states as they come"},
    {"inspect", "about a file, without a cluster"},
    {"reshard", "about a file, without a cluster"},
    {"compare", "about files, without a cluster"},
    {"models list", "without a cluster; the dialog that starts a job lists the models"},
    {"models show", "without a cluster; the dialog that starts a job describes the model"},
    {"rules list", "without a cluster"},
    {"rules show", "without a cluster"},
    {"rules check", "about a file, without a cluster"},
    {"node setup", "writes the configuration of the machine on which it runs"},
    {"registrar move", "runs on the machine of the new registrar, with its configuration"},
    {"registrar rebuild", "repairs a registrar whose journal was lost; events name the command"},
    {"lesson list", "the menu Learn lists the lessons"},
    {"lesson check", "about a file, without a cluster"},
    {"scenario run", "about a file, without a cluster; its history opens in the panel"},
    {"help", "the guide and the sheet of shortcuts"},
    {"explain", "the page Troubleshooting of the guide"},
    {"completion", "about the shell"},
    {"manual", "about the shell"},
};

}  // namespace

class VerbPlacesTest : public QObject {
  Q_OBJECT

 private slots:
  void everyVerbHasAnActionOrAReason() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    ui::MainWindow window(model, bridge, {.keepLayout = false});
    for (const app::Command& command : app::commands()) {
      const std::string& verb = command.syntax.verb;
      if (kExempt.contains(verb)) continue;
      const auto place = kPlaces.find(verb);
      QVERIFY2(place != kPlaces.end(),
               qPrintable(QStringLiteral("`tesseractl %1` has no place in the panel")
                              .arg(QString::fromStdString(verb))));
      const QAction* action = window.actions()->find(QString::fromLatin1(place->second));
      QVERIFY2(action != nullptr, place->second);
      QVERIFY2(!window.actions()->menuOf(action).isEmpty(), place->second);
    }
  }

  void noPlaceIsOfAVerbThatIsGone() {
    for (const auto& [verb, id] : kPlaces) {
#ifndef TESSERA_WITH_FUSE
      if (verb == "mount" || verb == "unmount") continue;
#endif
      QVERIFY2(app::findCommand(verb) != nullptr, verb.c_str());
    }
    for (const auto& [verb, reason] : kExempt) {
      QVERIFY2(app::findCommand(verb) != nullptr, verb.c_str());
    }
  }
};

TESSERA_THEMED_TEST(VerbPlacesTest)
#include "verb_places_test.moc"
