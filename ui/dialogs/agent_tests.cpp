// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/agent_tests.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <utility>

#include "ui/icons.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

constexpr int kAgentWidth = 72;
constexpr int kVerdictWidth = 112;

/// Returns the role of the label and the name of the icon.
std::pair<QString, QString> look(AgentTest::Verdict verdict) {
  switch (verdict) {
    case AgentTest::Verdict::Reached:
      return {QStringLiteral("ok"), QStringLiteral("check")};
    case AgentTest::Verdict::ClockSkew:
    case AgentTest::Verdict::Warning:
      return {QStringLiteral("warn"), QStringLiteral("warning")};
    case AgentTest::Verdict::VersionMismatch:
    case AgentTest::Verdict::KeyRefused:
    case AgentTest::Verdict::Unreachable:
      return {QStringLiteral("bad"), QStringLiteral("error")};
  }
  return {};
}

QColor verdictColor(const QString& role) {
  const Theme& theme = Theme::current();
  if (role == QLatin1String("ok")) return theme.ok;
  return role == QLatin1String("warn") ? theme.warn : theme.bad;
}

/// The icon of a verdict, in the colours of the theme.
class VerdictMark : public QLabel {
 public:
  VerdictMark(QString icon, QString role, QWidget* parent)
      : QLabel(parent), m_icon(std::move(icon)), m_role(std::move(role)) {
    draw();
  }

 protected:
  void changeEvent(QEvent* event) override {
    if (event->type() == QEvent::PaletteChange) draw();
    QLabel::changeEvent(event);
  }

 private:
  void draw() { setPixmap(iconPixmap(m_icon, verdictColor(m_role), 14, devicePixelRatioF())); }

  QString m_icon, m_role;
};

}  // namespace

AgentTests::AgentTests(QWidget* parent) : QWidget(parent), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(6);
  m_column->addStretch();
}

QString AgentTests::text(AgentTest::Verdict verdict) {
  switch (verdict) {
    case AgentTest::Verdict::Reached:
      return tr("reached");
    case AgentTest::Verdict::VersionMismatch:
      return tr("version mismatch");
    case AgentTest::Verdict::KeyRefused:
      return tr("key refused");
    case AgentTest::Verdict::ClockSkew:
      return tr("clock skew");
    case AgentTest::Verdict::Unreachable:
      return tr("not reached");
    case AgentTest::Verdict::Warning:
      return tr("reached, with warnings");
  }
  return {};
}

void AgentTests::clear() {
  m_tests.clear();
  while (m_column->count() > 1) {
    QLayoutItem* item = m_column->takeAt(0);
    delete item->widget();
    delete item;
  }
}

void AgentTests::add(const AgentTest& test) {
  m_tests.push_back(test);
  const auto [role, iconName] = look(test.verdict);
  auto* row = new QWidget(this);
  row->setAccessibleName(
      test.fix.isEmpty()
          ? tr("%1 %2, %3").arg(test.agent, text(test.verdict), test.found)
          : tr("%1 %2, %3. %4").arg(test.agent, text(test.verdict), test.found, test.fix));
  auto* grid = new QGridLayout(row);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(1);
  auto* mark = new VerdictMark(iconName, role, row);
  auto* agent = new QLabel(test.agent, row);
  agent->setFixedWidth(kAgentWidth);
  auto* verdict = new QLabel(text(test.verdict), row);
  verdict->setFixedWidth(kVerdictWidth);
  verdict->setWordWrap(true);
  setRole(verdict, role);
  auto* found = new QLabel(test.found, row);
  setRole(found, QStringLiteral("hint"));
  found->setWordWrap(true);
  grid->addWidget(mark, 0, 0, Qt::AlignTop);
  grid->addWidget(agent, 0, 1, Qt::AlignTop);
  grid->addWidget(verdict, 0, 2, Qt::AlignTop);
  grid->addWidget(found, 0, 3, Qt::AlignTop);
  grid->setColumnStretch(3, 1);
  if (!test.fix.isEmpty()) {
    auto* fix = new QLabel(test.fix, row);
    fix->setWordWrap(true);
    fix->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid->addWidget(fix, 1, 3);
  }
  m_column->insertWidget(m_column->count() - 1, row);
}

}  // namespace tessera::ui
