// One field of a YAML file with its path: typed look-ups that throw Wrong with the line and the
// path.
//
// Used inside the reader of workload files. A map's keys are checked against those that were asked
// for: what nobody asked for is a spelling mistake, not a default.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "trace/wrong.h"

namespace pondage::trace {

// The longest length of time that a file may state, a hundred years: sums stay far inside int64.
inline constexpr base::Millis kLongest{3'155'760'000'000};

class Field {
 public:
  // Throws Wrong where the text is not YAML or its root is no map.
  static Field Root(std::string_view text);

  bool Present() const { return node_.IsDefined() && !node_.IsNull(); }
  const std::string& path() const { return path_; }

  // Of a map. Requires nothing: a field that is no map is the file's mistake.
  Field At(const std::string& key);
  // After all At(): throws where the map has other keys.
  void NothingElse() const;

  std::vector<Field> List() const;                             // absent: empty
  std::vector<std::pair<std::string, Field>> Entries() const;  // of a map with free keys
  std::vector<std::string> Texts() const;                      // one text or a list of them
  bool IsMap() const { return node_.IsMap(); }

  std::string Text(std::string otherwise = "") const;
  std::int64_t Whole(std::int64_t low, std::int64_t high, std::int64_t otherwise) const;
  bool Flag(bool otherwise = false) const;
  // A number times `scale`, in [low, high].
  std::int64_t Number(std::int64_t scale, std::int64_t low, std::int64_t high,
                      std::int64_t otherwise) const;
  std::optional<base::Millis> MaybeLength() const;
  base::Millis Length(base::Millis otherwise) const;
  base::Bytes Size() const;
  std::optional<base::Instant> MaybeMoment() const;

  [[noreturn]] void Bad(std::string_view why) const;

 private:
  Field(YAML::Node node, std::string path, int line)
      : node_(std::move(node)), path_(std::move(path)), line_(line) {}
  int Line() const;
  std::string Scalar() const;
  [[noreturn]] void NotA(std::string_view wanted) const;

  YAML::Node node_;
  std::string path_;
  int line_;  // of the map it is in, where it is absent
  std::set<std::string> asked_;
};

}  // namespace pondage::trace
