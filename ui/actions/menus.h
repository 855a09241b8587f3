// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The titles of the menus. Whoever registers a command takes them from here.

#include <QCoreApplication>
#include <QString>

namespace tessera::ui {

class Menus {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::Menus)

 public:
  static QString file() { return tr("&File"); }
  static QString edit() { return tr("&Edit"); }
  static QString view() { return tr("&View"); }
  static QString zoom() { return tr("Zoom", "a menu in View"); }
  static QString cluster() { return tr("&Cluster"); }
  static QString diagnosis() { return tr("Diagnosis", "a menu in Cluster"); }
  static QString plan() { return tr("&Plan"); }
  static QString history() { return tr("Hi&story"); }
  static QString learn() { return tr("&Learn"); }
  static QString help() { return tr("&Help"); }
};

}  // namespace tessera::ui
