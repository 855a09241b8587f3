// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/settings_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "ui/widgets/key_values.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/surface.h"
#include "ui/widgets/toggle_switch.h"

namespace tessera::ui {

SettingsPage::SettingsPage(Settings& settings, const QString& title, QWidget* parent)
    : QWidget(parent), m_settings(settings), m_title(title), m_column(new QVBoxLayout(this)) {
  auto* heading = new QLabel(title, this);
  setRole(heading, QStringLiteral("number"));
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(11);
  m_column->addWidget(heading);
}

void SettingsPage::reset() {
  for (const Setting setting : m_own) m_settings.reset(setting);
}

void SettingsPage::addRow(const QString& name, const QString& hint, QWidget* control) {
  if (m_column->count() > 1) m_column->addWidget(new Rule(this));
  auto* title = new QLabel(name, this);
  auto* words = new QVBoxLayout;
  words->setSpacing(2);
  words->addWidget(title);
  if (!hint.isEmpty()) {
    auto* note = new QLabel(hint, this);
    setRole(note, QStringLiteral("hint"));
    note->setWordWrap(true);
    words->addWidget(note);
  }
  if (control->accessibleName().isEmpty()) control->setAccessibleName(name);
  title->setBuddy(control);
  auto* row = new QHBoxLayout;
  row->setSpacing(24);
  row->addLayout(words, 1);
  row->addWidget(control, 0, Qt::AlignRight | Qt::AlignVCenter);
  m_column->addLayout(row);
}

void SettingsPage::addNote(const QString& text) {
  auto* note = new QLabel(text, this);
  setRole(note, QStringLiteral("hint"));
  note->setWordWrap(true);
  m_column->addWidget(note);
}

void SettingsPage::addWidget(QWidget* widget, int stretch) { m_column->addWidget(widget, stretch); }

void SettingsPage::end() { m_column->addStretch(1); }

QWidget* SettingsPage::makeSwitch(Setting setting) {
  m_own << setting;
  auto* toggle = new ToggleSwitch(QString(), this);
  toggle->setChecked(m_settings.flag(setting));
  connect(toggle, &QAbstractButton::clicked, this,
          [this, setting](bool on) { m_settings.set(setting, on); });
  connect(&m_settings, &Settings::changed, toggle, [this, setting, toggle](Setting changed) {
    if (changed == setting) toggle->setChecked(m_settings.flag(setting));
  });
  return toggle;
}

QWidget* SettingsPage::makeNumber(Setting setting, const QString& unit) {
  m_own << setting;
  const SettingSpec& spec = Settings::specOf(setting);
  auto* box = new QSpinBox(this);
  box->setRange(spec.least, spec.most);
  box->setSuffix(QLatin1Char(' ') + unit);
  box->setValue(m_settings.number(setting));
  box->setMinimumWidth(116);
  box->setAlignment(Qt::AlignRight);
  box->setGroupSeparatorShown(true);
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setToolTip(tr("%L1 to %L2 %3").arg(spec.least).arg(spec.most).arg(unit));
  connect(box, &QSpinBox::valueChanged, this,
          [this, setting](int value) { m_settings.set(setting, value); });
  connect(&m_settings, &Settings::changed, box, [this, setting, box](Setting changed) {
    if (changed == setting) box->setValue(m_settings.number(setting));
  });
  return box;
}

QWidget* SettingsPage::makeChoice(Setting setting, const QStringList& texts,
                                  const QList<int>& numbers) {
  m_own << setting;
  const bool isNumber = !numbers.isEmpty();
  const QStringList choices = Settings::specOf(setting).choices;
  auto* segments = new SegmentedSwitch(this);
  for (int i = 0; i < texts.size(); ++i) segments->addSegment(i, texts[i], texts[i]);
  const auto show = [this, setting, segments, numbers, choices, isNumber] {
    const auto at = isNumber ? numbers.indexOf(m_settings.number(setting))
                             : choices.indexOf(m_settings.text(setting));
    segments->setCurrent(static_cast<int>(std::max<qsizetype>(0, at)));
  };
  show();
  connect(segments, &SegmentedSwitch::chosen, this, [=, this](int at) {
    m_settings.set(setting, isNumber ? QVariant(numbers[at]) : QVariant(choices[at]));
  });
  connect(&m_settings, &Settings::changed, segments, [setting, show](Setting changed) {
    if (changed == setting) show();
  });
  return segments;
}

}  // namespace tessera::ui
