// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/about_dialog.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSysInfo>
#include <QVBoxLayout>

#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {

AboutDialog::AboutDialog(const QString& version, QWidget* parent) : Dialog(parent) {
  setWindowTitle(tr("About Tessera"));
  auto* title = new QLabel(tr("Tessera"), this);
  setRole(title, QStringLiteral("number"));
  auto* what = new QLabel(tr("Moves the state of a running deep-learning job to another mesh of "
                             "GPUs. Based on the idea of Tenplex (SOSP 2024)."),
                          this);
  what->setWordWrap(true);
  setRole(what, QStringLiteral("hint"));

  const std::vector<KeyValues::Row> versions{
      {tr("version"), version.isEmpty() ? tr("unknown") : version},
      {tr("Qt"), QString::fromLatin1(qVersion())},
      {tr("display"), QGuiApplication::platformName()},
      {tr("system"),
       QSysInfo::prettyProductName() + QStringLiteral(", ") + QSysInfo::currentCpuArchitecture()}};
  const std::vector<KeyValues::Row> licences{
      {tr("panel and command line (ui, app)"), tr("GPL-3.0-or-later")},
      {tr("planner, engine, agents"), tr("Apache-2.0")},
      {tr("Qt"), tr("LGPL-3.0-only")},
      {tr("QCustomPlot"), tr("GPL-3.0-or-later")},
      {tr("ZeroMQ"), tr("LGPL-3.0 with static linking exception")},
      {tr("Protocol Buffers"), tr("BSD-3-Clause")},
      {tr("SQLite"), tr("public domain")},
      {tr("libtorch (trainer only)"), tr("BSD-3-Clause")}};
  auto* facts = new KeyValues(this);
  facts->setRows(versions);
  auto* heading = new QLabel(tr("Licences"), this);
  setRole(heading, QStringLiteral("heading"));
  auto* terms = new KeyValues(this);
  terms->setRows(licences);
  for (const auto& rows : {versions, licences}) {
    for (const KeyValues::Row& row : rows) m_text += row.key + QLatin1Char(' ') + row.value + u'\n';
  }

  auto* copy = new QPushButton(tr("Copy versions"), this);
  copy->setFlat(true);
  copy->setAccessibleName(tr("Copy the versions"));
  auto* close = new QPushButton(tr("Close"), this);
  close->setDefault(true);
  close->setAccessibleName(tr("Close"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(copy);
  buttons->addStretch();
  buttons->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 20, 16);
  column->setSpacing(12);
  column->addWidget(title);
  column->addWidget(what);
  column->addWidget(facts);
  column->addWidget(new Rule(this));
  column->addWidget(heading);
  column->addWidget(terms);
  column->addStretch();
  column->addLayout(buttons);
  setMinimumWidth(460);
  keepWholeHeight(*this);
  connect(copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_text); });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  close->setFocus();
}

}  // namespace tessera::ui
