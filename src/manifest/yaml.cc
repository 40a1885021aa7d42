#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "manifest/object.h"
#include "manifest/trouble.h"
#include "manifest/yaml_input.h"
#include "manifest/yaml_scalar.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxAliases = 10'000;

struct Refused {
  base::Error error;
};

[[noreturn]] void Refuse(const YAML::Mark& mark, std::string_view why, const char* id = kSyntaxId) {
  throw Refused{
      {base::Kind::kInvalid, id, "", fmt::format("YAML line {}: {}", mark.line + 1, why)}};
}

struct Document {
  json::value value;
  int line = 1;
};

// Builds JSON from the events of yaml-cpp. What anchors and aliases multiply is charged against a
// budget of bytes before it is copied.
class Builder final : public YAML::EventHandler {
 public:
  Builder(YamlInput& input, std::size_t budget) : input_(input), budget_(budget) {}

  std::vector<Document> Take() { return std::move(documents_); }

  // yaml-cpp takes the end of the input for the closing quote, which would pass off half a file as
  // a whole one. Only the last quoted scalar can run that far.
  void CheckLastQuote(std::string_view bytes) const {
    if (!last_quoted_) return;
    const std::string_view rest = bytes.substr(std::min<std::size_t>(
        static_cast<std::size_t>(std::max(0, last_quoted_->pos)), bytes.size()));
    const auto open = rest.find_first_of("\"'");
    if (open == std::string_view::npos) return;  // `!!str plain`
    for (std::size_t i = open + 1; i < rest.size(); ++i) {
      const char escape = rest[open] == '"' ? '\\' : '\'';
      if (rest[i] == escape && (escape == '\\' || rest.substr(i + 1).starts_with('\''))) {
        ++i;
      } else if (rest[i] == rest[open]) {
        return;
      }
    }
    Refuse(*last_quoted_, "the quote is never closed");
  }

  // yaml-cpp gives an empty document for a token that fits nowhere, and leaves it standing: the
  // next document begins at the same place, for ever.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (any_ && mark.pos <= start_.pos) Refuse(mark, "this cannot begin a document");
    any_ = true;
    start_ = mark;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    input_.Told();
    Scalar(mark, anchor, nullptr, 4, false);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    input_.Told(static_cast<std::size_t>(std::max(0, mark.pos)), text);
    auto value = TaggedScalar(tag, text);
    if (!value) Refuse(mark, value.error().message);
    if (tag == "!" || tag.ends_with(":str")) last_quoted_ = mark;
    Scalar(mark, anchor, *std::move(value), text.size() + 2, tag != "!" && text == "<<");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    input_.Told();
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "an alias inside its own anchor");
    if (++aliases_ > kMaxAliases) Refuse(mark, "more than 10000 aliases", kBoundId);
    Charge(mark, found->second.weight);
    Put(mark, json::value(found->second.value), found->second.weight, false);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "seq");
    Open(mark, anchor, json::array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "map");
    Open(mark, anchor, json::object());
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    json::value value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::size_t weight = 2;
    std::optional<std::string> key;   // of the member whose value comes next
    bool merge = false;               // ... which is the merge key
    std::vector<json::value> merges;  // what `<<` brings in
  };
  struct Anchored {
    json::value value;
    std::size_t weight = 0;
  };

  static void CheckTag(const YAML::Mark& mark, const std::string& tag, std::string_view kind) {
    if (tag.empty() || tag == "?" || tag == "!" || tag.ends_with(kind)) return;
    Refuse(mark, fmt::format("unknown tag {}", tag));
  }
  void Charge(const YAML::Mark& mark, std::size_t weight) {
    spent_ += weight;
    if (spent_ > budget_) Refuse(mark, "aliases expand to more than the size limit", kBoundId);
  }
  void Remember(const YAML::Mark& mark, YAML::anchor_t anchor, const json::value& value,
                std::size_t weight) {
    if (anchor == 0) return;
    Charge(mark, weight);
    anchors_[anchor] = {value, weight};
  }
  void Scalar(const YAML::Mark& mark, YAML::anchor_t anchor, json::value value, std::size_t weight,
              bool may_merge) {
    Remember(mark, anchor, value, weight);
    Put(mark, std::move(value), weight, may_merge);
  }
  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, json::value value) {
    input_.Told();
    if (open_.size() >= kMaxDepth) {
      Refuse(mark, fmt::format("nested deeper than {} levels", kMaxDepth), kBoundId);
    }
    open_.push_back(
        {.value = std::move(value), .mark = mark, .anchor = anchor, .key = {}, .merges = {}});
  }
  void Close() {
    input_.Told();
    Frame frame = std::move(open_.back());
    open_.pop_back();
    if (!frame.merges.empty()) Merge(frame);
    Remember(frame.mark, frame.anchor, frame.value, frame.weight);
    Put(frame.mark, std::move(frame.value), frame.weight, false);
  }
  void Put(const YAML::Mark& mark, json::value value, std::size_t weight, bool may_merge) {
    if (open_.empty()) {
      documents_.push_back({std::move(value), start_.line + 1});
      return;
    }
    Frame& frame = open_.back();
    frame.weight += weight;
    if (json::array* array = frame.value.if_array()) {
      array->push_back(std::move(value));
    } else if (!frame.key) {
      auto key = KeyOf(value);
      if (!key) Refuse(mark, key.error().message);
      frame.key = *std::move(key);
      frame.merge = may_merge;
    } else {
      PutMember(mark, frame, std::move(value));
    }
  }
  static void PutMember(const YAML::Mark& mark, Frame& frame, json::value value) {
    if (frame.merge) {
      frame.merges.push_back(std::move(value));
    } else if (!frame.value.get_object().emplace(*frame.key, std::move(value)).second) {
      Refuse(mark, fmt::format("key \"{}\" stands twice in one map", *frame.key));
    }
    frame.key.reset();
    frame.merge = false;
  }
  // Members of merged maps stand behind the map's own, the first map's win.
  static void Merge(Frame& frame) {
    const auto take = [&frame](const json::value& from) {
      if (!from.is_object()) Refuse(frame.mark, "<< needs a map or a list of maps");
      for (const auto& [key, value] : from.get_object()) {
        frame.value.get_object().emplace(key, value);
      }
    };
    for (const json::value& from : frame.merges) {
      if (const json::array* list = from.if_array()) {
        for (const json::value& one : *list) take(one);
      } else {
        take(from);
      }
    }
  }

  YamlInput& input_;
  std::size_t budget_;
  std::size_t spent_ = 0;
  std::size_t aliases_ = 0;
  bool any_ = false;
  YAML::Mark start_;  // of the document
  std::optional<YAML::Mark> last_quoted_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::vector<Document> documents_;
};

// yaml-cpp keeps each token of a flow collection until the collection is closed. Text may hold some
// brackets too many (a ConfigMap's script); thousands that nobody closes are a bomb.
bool OpensTooMuch(std::string_view bytes) {
  std::ptrdiff_t open = 0;
  constexpr std::ptrdiff_t kMostOpen = 10'000;
  return std::ranges::any_of(bytes, [&open](char c) {
    open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    return open > kMostOpen;
  });
}

base::Result<std::vector<Document>> ParseYaml(std::string_view bytes, std::size_t max_bytes) {
  if (OpensTooMuch(bytes)) {
    return base::Fail(base::Kind::kInvalid, kBoundId, "",
                      fmt::format("YAML: nested deeper than {} levels", kMaxDepth));
  }
  YamlInput input(bytes);
  Builder builder(input, max_bytes);
  const auto behind = [&input] {
    return base::Fail(
        base::Kind::kInvalid, kBoundId, "",
        fmt::format("YAML: a collection of more than {} parts between brackets: write "
                    "it line by line, or all as JSON",
                    YamlInput::kMostTokens));
  };
  try {
    std::istream stream(&input);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (input.CutShort()) return behind();
    builder.CheckLastQuote(bytes);
  } catch (const Refused& refused) {
    return std::unexpected(refused.error);
  } catch (const YAML::DeepRecursion& deep) {
    return base::Fail(
        base::Kind::kInvalid, kBoundId, "",
        fmt::format("YAML line {}: nested deeper than {} levels", deep.mark.line + 1, kMaxDepth));
  } catch (const YAML::Exception& wrong) {
    if (input.CutShort()) return behind();
    return base::Fail(base::Kind::kInvalid, kSyntaxId, "",
                      fmt::format("YAML line {}: {}", wrong.mark.line + 1, wrong.msg));
  } catch (const std::exception& wrong) {  // of memory, or of what yaml-cpp takes for granted
    return base::Fail(base::Kind::kInvalid, kSyntaxId, "",
                      fmt::format("the YAML cannot be read: {}", wrong.what()));
  }
  return builder.Take();
}

bool IsList(const json::object& object) {
  const json::value* kind = object.if_contains("kind");
  const json::value* items = object.if_contains("items");
  return kind != nullptr && kind->is_string() && kind->get_string().ends_with("List") &&
         items != nullptr && items->is_array();
}

base::Result<std::vector<json::object>> TakeApart(std::vector<Document> documents) {
  std::vector<json::object> objects;
  // A list in a list is taken apart too: what is nested is bounded, so this ends.
  std::vector<Document> pending(std::make_move_iterator(documents.rbegin()),
                                std::make_move_iterator(documents.rend()));
  while (!pending.empty()) {
    Document document = std::move(pending.back());
    pending.pop_back();
    if (document.value.is_null()) continue;
    json::object* object = document.value.if_object();
    if (object == nullptr) {
      return base::Fail(base::Kind::kInvalid, kTypeId, "",
                        fmt::format("line {}: an object was expected, not {}", document.line,
                                    Shown(document.value)));
    }
    if (!IsList(*object)) {
      objects.push_back(std::move(*object));
      continue;
    }
    json::array& items = object->at("items").get_array();
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      pending.push_back({std::move(*item), document.line});
    }
  }
  return objects;
}

}  // namespace

base::Result<std::vector<json::object>> ParseManifests(std::string_view bytes,
                                                       std::size_t max_bytes) {
  if (bytes.size() > max_bytes) {
    return base::Fail(
        base::Kind::kInvalid, kBoundId, "",
        fmt::format("the manifest has {} bytes, the limit is {}", bytes.size(), max_bytes));
  }
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  if (bytes.find('\0') != std::string_view::npos || !base::IsUtf8(bytes)) {
    return base::Fail(base::Kind::kInvalid, kSyntaxId, "", "the manifest is not UTF-8 text");
  }
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') {
    // JSON, unless it is a flow map of YAML, which looks alike.
    if (auto value = ParseJson(bytes)) {
      std::vector<Document> documents;
      documents.push_back({*std::move(value), 1});
      return TakeApart(std::move(documents));
    }
  }
  TRY(auto documents, ParseYaml(bytes, max_bytes));
  return TakeApart(std::move(documents));
}

}  // namespace pondage::manifest
