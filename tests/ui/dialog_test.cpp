// SPDX-License-Identifier: Apache-2.0
// Enter presses the button that has the focus, in every dialog and in the window.
#include "ui/dialogs/dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDirIterator>
#include <QFile>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/canvas/mesh_view.h"
#include "ui/pages/plan_panel.h"

using namespace tessera;

class DialogTest : public QObject {
  Q_OBJECT

 private slots:
  void enterPressesTheFocusedButton() {
    ui::Dialog dialog;
    auto* column = new QVBoxLayout(&dialog);
    auto* field = new QLineEdit(&dialog);
    auto* usual = new QPushButton(QStringLiteral("Cancel"), &dialog);
    auto* plain = new QPushButton(QStringLiteral("Move"), &dialog);
    auto* tool = new QToolButton(&dialog);
    auto* box = new QCheckBox(QStringLiteral("Anyway"), &dialog);
    for (QWidget* widget : std::initializer_list<QWidget*>{field, usual, plain, tool, box})
      column->addWidget(widget);
    plain->setAutoDefault(false);
    usual->setDefault(true);
    dialog.show();
    for (QAbstractButton* button : std::initializer_list<QAbstractButton*>{plain, tool, box}) {
      for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
        const QSignalSpy own(button, &QAbstractButton::clicked);
        const QSignalSpy byDefault(usual, &QAbstractButton::clicked);
        button->setFocus();
        QCOMPARE(dialog.focusWidget(), button);
        QTest::keyClick(button, key);
        QCOMPARE(own.size(), 1);
        QCOMPARE(byDefault.size(), 0);
      }
    }
    // Where no button has the focus, Enter presses the default one.
    const QSignalSpy byDefault(usual, &QAbstractButton::clicked);
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(byDefault.size(), 1);
  }

  void aHeldKeyPressesNothing() {
    ui::Dialog dialog;
    auto* column = new QVBoxLayout(&dialog);
    auto* button = new QPushButton(QStringLiteral("Move"), &dialog);
    column->addWidget(button);
    button->setAutoDefault(false);
    dialog.show();
    button->setFocus();
    const QSignalSpy pressed(button, &QAbstractButton::clicked);
    QKeyEvent repeated(QEvent::KeyPress, Qt::Key_Return, Qt::NoModifier, QString(), true);
    QCoreApplication::sendEvent(&dialog, &repeated);
    QCOMPARE(pressed.size(), 0);
  }

  void enterPressesButtonsOfTheWindow() {
    test::Panel panel({.operate = true});
    emit panel.window->meshView()->devicesDropped({{1, 0}, {1, 1}, {1, 2}, {1, 3}}, true);
    QVERIFY(panel.waitForPlan());
    const ui::PlanPanel* plan = panel.window->planPanel();
    QPushButton* copy = nullptr;
    for (auto* button : plan->findChildren<QPushButton*>())
      if (button->accessibleName() == QStringLiteral("Copy the plan as a command")) copy = button;
    QVERIFY(copy != nullptr && copy->isVisible());
    QGuiApplication::clipboard()->clear();
    copy->setFocus();
    QTest::keyClick(copy, Qt::Key_Return);
    QCOMPARE(QGuiApplication::clipboard()->text(), plan->command());
  }

  // A dialog that derives from QDialog itself would lack the rule.
  void everyDialogHasTheRule() {
    const QString rule = QStringLiteral(TESSERA_SOURCE_DIR "/ui/dialogs/dialog.h");
    int dialogs = 0;
    for (const char* folder : {"/ui", "/app"}) {
      for (QDirIterator it(QStringLiteral(TESSERA_SOURCE_DIR) + QLatin1String(folder),
                           {QStringLiteral("*.h"), QStringLiteral("*.cpp")}, QDir::Files,
                           QDirIterator::Subdirectories);
           it.hasNext();) {
        QFile file(it.next());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        dialogs += static_cast<int>(text.count(QStringLiteral(" : public Dialog {")));
        if (file.fileName() == rule) continue;
        QVERIFY2(!text.contains(QStringLiteral("public QDialog")), qPrintable(file.fileName()));
        QVERIFY2(!text.contains(QStringLiteral("new QDialog(")), qPrintable(file.fileName()));
      }
    }
    QVERIFY(dialogs >= 12);
  }
};

TESSERA_THEMED_TEST(DialogTest)
#include "dialog_test.moc"
