// SPDX-License-Identifier: Apache-2.0
// Runs tests/scenarios/*.scn. The README there describes their format.
#include <QDir>
#include <QTest>
#include <fstream>
#include <map>
#include <sstream>

#include "ptc/plan/plan.h"
#include "tests/ptc/volume_bound.h"
#include "tests/support/test_main.h"

using namespace tessera;
using ptc::Axis;

namespace {

template <typename Visit>
void ForEachPart(const std::string& text, char separator, const Visit& visit) {
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) visit(part);
}

std::vector<Axis> ParseAxes(const std::string& text) {
  std::vector<Axis> axes;
  if (text == "-") return axes;
  ForEachPart(text, '*', [&](const std::string& name) { axes.push_back(*ptc::ParseAxis(name)); });
  return axes;
}

/// A scenario and, after Run, the cost of its plan.
class Scenario {
 public:
  /// Returns false, with the line in `problem`, if a line is malformed.
  bool Read(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      line = line.substr(0, line.find('#'));
      std::istringstream words(line);
      std::string keyword;
      if (!(words >> keyword)) continue;
      std::string rest;
      std::getline(words >> std::ws, rest);
      while (!rest.empty() && rest.back() == ' ') rest.pop_back();
      if (Take(keyword, rest)) continue;
      problem = line;
      return false;
    }
    return file.eof();
  }

  bool Run() {
    const auto collection = *ptc::Collection::Make(tensors_, num_layers_);
    const auto from = *ptc::Layout::Make(*ptc::ParseDeviceMesh(from_), collection);
    ptc::DeviceMesh mesh = *ptc::ParseDeviceMesh(to_);
    if (is_placed_) {
      const std::string devices = to_.substr(to_.find(" on ") + 4);
      mesh = *ptc::Place(from, *ptc::ParseMeshShape(to_.substr(0, to_.find(" on "))), collection,
                         *ptc::ParseDevices(devices), topology_, {}, lost_);
    }
    const auto to = *ptc::Layout::Make(mesh, collection);
    const auto outline = *ptc::MakeOutline(from, to, topology_, {.lost = lost_});
    const auto number = [&](const char* name, std::int64_t value) {
      found[name] = std::to_string(value);
    };
    number("kept", outline.bytes.kept);
    number("device", outline.bytes.device);
    number("host", outline.bytes.host);
    number("network", outline.bytes.network);
    number("storage", outline.bytes.storage);
    number("lost_tensors", outline.lost_tensors);
    number("lost_bytes", outline.lost_bytes);
    const auto ranges = ptc::LostRanges(outline, 1);
    found["first_lost"] = "none";
    if (!ranges.empty()) {
      const auto tensor = static_cast<std::size_t>(ranges[0].tensor);
      found["first_lost"] = collection->tensors()[tensor].name + " " + ToString(ranges[0].box);
    }
    number("busiest", outline.busiest_port.bytes);
    number("classes", std::ssize(outline.classes));
    found["port"] = outline.busiest_port.name;
    return outline.bytes.moved() == test::VolumeBound(from, to, lost_);
  }

  std::string problem;
  std::map<std::string, std::string> expected, found;

 private:
  bool Take(const std::string& keyword, const std::string& rest) {
    std::istringstream in(rest);
    if (keyword == "layers") return static_cast<bool>(in >> num_layers_);
    if (keyword == "tensor") return TakeTensor(in);
    if (keyword == "from") return !(from_ = rest).empty();
    if (keyword == "to" || keyword == "place") {
      is_placed_ = keyword == "place";
      return !(to_ = rest).empty();
    }
    if (keyword == "lost") {
      const auto devices = ptc::ParseDevices(rest);
      if (devices) lost_ = *devices;
      return devices.has_value();
    }
    if (keyword == "host") {
      std::int32_t node = 0;
      std::int32_t host = 0;
      if (!(in >> node >> host)) return false;
      topology_.host_of_node[node] = host;
      return true;
    }
    std::string name;
    std::string value;
    if (keyword != "expect" || !(in >> name) || !std::getline(in >> std::ws, value)) return false;
    expected[name] = value;
    return true;
  }

  bool TakeTensor(std::istringstream& in) {
    std::string name, dtype, shape, place, cuts, option;
    if (!(in >> name >> dtype >> shape >> place >> cuts)) return false;
    ptc::TensorSpec spec;
    spec.dtype = *ptc::ParseDType(dtype);
    spec.place = *ptc::ParseStagePlace(place);
    ForEachPart(shape.substr(1, shape.size() - 2), ',',
                [&](const std::string& size) { spec.shape.push_back(std::stoll(size)); });
    ForEachPart(cuts, ',',
                [&](const std::string& axes) { spec.rule.dims.push_back({ParseAxes(axes)}); });
    if (in >> option) spec.rule.flat = ParseAxes(option.substr(option.find('=') + 1));
    const std::string mark = "{layer}";
    const std::size_t at = name.find(mark);
    for (std::int64_t layer = 0; layer < (at == std::string::npos ? 1 : num_layers_); ++layer) {
      spec.name = name;
      spec.layer = layer;
      if (at != std::string::npos) spec.name.replace(at, mark.size(), std::to_string(layer));
      tensors_.push_back(spec);
    }
    return true;
  }

  std::int64_t num_layers_ = 0;
  std::vector<ptc::TensorSpec> tensors_;
  ptc::Topology topology_;
  std::vector<ptc::DeviceId> lost_;
  std::string from_, to_;
  bool is_placed_ = false;
};

}  // namespace

class ScenarioTest : public QObject {
  Q_OBJECT
 private slots:
  void plansCostWhatTheyShould_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(TESSERA_SCENARIOS);
    for (const QString& name : folder.entryList({"*.scn"}, QDir::Files, QDir::Name)) {
      QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
  }
  void plansCostWhatTheyShould() {
    QFETCH(QString, path);
    Scenario scenario;
    QVERIFY2(scenario.Read(path.toStdString()), scenario.problem.c_str());
    QVERIFY2(scenario.Run(), "moved bytes are not the volume bound");
    QVERIFY(!scenario.expected.empty());
    for (const auto& [name, value] : scenario.expected) {
      QVERIFY2(scenario.found[name] == value,
               qPrintable(QString("%1 is %2, not %3")
                              .arg(QString::fromStdString(name),
                                   QString::fromStdString(scenario.found[name]),
                                   QString::fromStdString(value))));
    }
  }
};

TESSERA_TEST_APPLESS(ScenarioTest)
#include "scenario_test.moc"
