// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The view "Mesh": the canvas with nodes and GPUs, or the state page while there is no cluster.

#include <QStackedWidget>
#include <functional>

#include "ui/views/view.h"

namespace tessera::ui {

class MeshPair;
class MeshView;
class StatePage;

class MeshPage : public QStackedWidget, public View {
  Q_OBJECT

 public:
  MeshPage(const ViewContext& context, QWidget* parent);

  MeshView* mesh() const { return m_mesh; }
  MeshPair* pair() const { return m_pair; }
  StatePage* state() const { return m_state; }
  /// Shows the canvas, or else the state page.
  void setClusterShown(bool shown);

  QString id() const override { return QStringLiteral("mesh"); }
  QString title() const override { return tr("Mesh"); }
  QString actionText() const override { return tr("&Mesh"); }
  QString statusTip() const override { return tr("Show the GPUs and the shards that they hold"); }
  QKeySequence key() const override { return QKeySequence(QStringLiteral("Ctrl+1")); }
  QWidget* widget() override { return this; }
  QWidget* picture() override;
  QWidget* focusTarget() override;
  QList<Command> commands() override;
  void showLayout(const ShownLayout& layout) override;
  void setStale(double age, const QString& asOf) override;

 private:
  /// Lights up the groups along `axis`, or none if they are lit up.
  void toggleAxis(ptc::Axis axis);
  QList<Command> groupCommands();

  SelectionModel& m_selection;
  std::function<void()> m_rulesChanged;
  MeshPair* m_pair;
  MeshView* m_mesh;
  StatePage* m_state;
};

}  // namespace tessera::ui
