// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/doctor_dialog.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/language.h"
#include "ui/theme.h"

using namespace tessera;
using engine::Check;
using Model = ui::CheckTableModel;

namespace {

std::vector<Check> Findings() {
  using Verdict = Check::Verdict;
  return {{0, "clock", Verdict::kOk, "within 2 ms", ""},
          {1, "huge pages", Verdict::kSkipped, "not asked for", ""},
          {1, "clock", Verdict::kWarning, "4.2 s ahead", "timedatectl set-ntp true"},
          {1, "/dev/fuse", Verdict::kFailed, "missing", "modprobe fuse"}};
}

QAction* doctor(test::Panel& panel) {
  panel.window->actions()->refresh();
  return panel.window->actions()->find(QStringLiteral("cluster.doctor"));
}

}  // namespace

class DoctorDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void theWorstComesFirst() {
    Model model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setChecks(Findings());
    QCOMPARE(model.rowCount(), 4);
    QCOMPARE(model.problems(), 2);
    QStringList severities;
    for (int row = 0; row < 4; ++row)
      severities << model.index(row, Model::SeverityColumn).data().toString();
    QCOMPARE(severities.join(u' '), QStringLiteral("failed warning ok skipped"));
    QCOMPARE(model.index(0, Model::WhereColumn).data().toString(), QStringLiteral("n1"));
    QCOMPARE(model.index(1, Model::RemedyColumn).data().toString(),
             QStringLiteral("timedatectl set-ntp true"));
    model.setChecks({{std::nullopt, "home", Check::Verdict::kOk, "/x", ""}});
    QCOMPARE(model.index(0, Model::WhereColumn).data().toString(), QStringLiteral("here"));
  }

  void findingsAreInTheLanguageOfThePanel() {
    const ui::Language german{QLocale(QLocale::German)};
    Model model;
    model.setChecks(
        {{1, "memory", Check::Verdict::kWarning, "8.0 GiB of arenas, 1.5 GiB of memory are free",
          "use fewer devices or less memory per device: ranks need memory beside the "
          "arenas"}});
    const auto text = [&](int column) { return model.index(0, column).data().toString(); };
    QCOMPARE(text(Model::FindingColumn), QStringLiteral("Speicher"));
    QCOMPARE(text(Model::ValueColumn),
             QStringLiteral("8,0 GiB Arenen, 1,5 GiB Speicher sind frei"));
    QVERIFY(text(Model::RemedyColumn).startsWith(QStringLiteral("weniger GPUs")));
    QVERIFY(model.asText().contains(text(Model::RemedyColumn)));
  }

  void itIsOpenedFromTheMenuAndAsksTheCluster() {
    test::Panel panel;
    panel.commands.checks = Findings();
    QVERIFY(doctor(panel)->isEnabled());
    doctor(panel)->trigger();
    auto* dialog = panel.window->findChild<ui::DoctorDialog*>();
    QVERIFY(dialog != nullptr && dialog->isVisible());
    QVERIFY(dialog->isAsking() && !dialog->againButton()->isEnabled());
    QVERIFY(!dialog->copyButton()->isEnabled());
    QTRY_VERIFY(!dialog->isAsking());
    QCOMPARE(dialog->words(), QStringLiteral("4 findings, 2 need attention."));
    QVERIFY(dialog->windowTitle().contains(QStringLiteral("local")));

    // Again: the cluster may have got better.
    panel.commands.checks = std::vector<Check>{Findings().front()};
    dialog->againButton()->click();
    dialog->ask();  // one question at a time
    QTRY_VERIFY(!dialog->isAsking());
    QCOMPARE(panel.commands.doctorCalls, 2);
    QCOMPARE(dialog->words(), QStringLiteral("1 finding, no problems."));

    panel.commands.checks = Unavailable("n0 did not answer within 30 s");
    dialog->againButton()->click();
    QTRY_VERIFY(dialog->words().contains(QStringLiteral("within 30 s")));
    QVERIFY(!dialog->table()->isEnabled());  // what it shows is from before
    QCOMPARE(dialog->model().rowCount(), 1);
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void findingsAreCopied() {
    test::Panel panel;
    panel.commands.checks = Findings();
    ui::DoctorDialog dialog(panel.commands, QStringLiteral("lab"));
    dialog.show();
    QTRY_VERIFY(!dialog.isAsking());
    dialog.copyButton()->click();
    const QStringList all = QGuiApplication::clipboard()->text().trimmed().split(u'\n');
    QCOMPARE(all.size(), 5);
    QCOMPARE(all[0], QStringLiteral("Severity\tWhere\tFinding\tValue\tRemedy"));
    QCOMPARE(all[1], QStringLiteral("failed\tn1\t/dev/fuse\tmissing\tmodprobe fuse"));
    dialog.table()->selectRow(1);
    QTest::keyClick(dialog.table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList one = QGuiApplication::clipboard()->text().trimmed().split(u'\n');
    QCOMPARE(one.size(), 2);
    QVERIFY(one[1].startsWith(QStringLiteral("warning\tn1\tclock")));
  }

  void anAnswerAfterItsEndDoesNothing() {
    test::Panel panel;
    { ui::DoctorDialog dialog(panel.commands, QStringLiteral("lab")); }
    test::settle();
    QCOMPARE(panel.commands.doctorCalls, 1);
  }

  void withoutAConnectionItSaysWhy() {
    test::Panel panel;
    panel.model.setLink(ui::LinkState::Lost, QStringLiteral("connection refused"));
    panel.model.flush();
    QVERIFY(!doctor(panel)->isEnabled());
    QVERIFY(doctor(panel)->toolTip().contains(QStringLiteral("no connection")));
  }
};

TESSERA_THEMED_TEST(DoctorDialogTest)
#include "doctor_dialog_test.moc"
