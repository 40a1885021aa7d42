#include <fmt/format.h>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

constexpr std::size_t kMaxDepth = 100;

// What the library's parser calls. Its own handler lets the last of two equal keys win in silence;
// this one refuses them and knows the path.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);
  using Error = json::error_code;

  json::value Take() { return std::move(root_); }
  const std::string& refusal() const { return refusal_; }

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return Open(json::object()); }
  bool on_array_begin(Error&) { return Open(json::array()); }
  bool on_object_end(std::size_t, Error& error) { return Close(error); }
  bool on_array_end(std::size_t, Error& error) { return Close(error); }
  bool on_key_part(json::string_view part, std::size_t, Error&) { return Append(part); }
  bool on_key(json::string_view part, std::size_t, Error&) {
    Append(part);
    open_.back().key = std::move(text_);
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, Error&) { return Append(part); }
  bool on_string(json::string_view part, std::size_t, Error& error) {
    Append(part);
    const bool ok = Put(json::value(json::string_view(text_)), error);
    text_.clear();
    return ok;
  }
  bool on_number_part(json::string_view, Error&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, Error& error) { return Put(number, error); }
  bool on_uint64(std::uint64_t number, json::string_view, Error& error) {
    return Put(number, error);
  }
  bool on_double(double number, json::string_view, Error& error) {
    if (std::isfinite(number)) return Put(number, error);
    return Refuse(fmt::format("{}: number out of range", Path()), error);
  }
  bool on_bool(bool value, Error& error) { return Put(value, error); }
  bool on_null(Error& error) { return Put(nullptr, error); }
  bool on_comment_part(json::string_view, Error&) { return true; }
  bool on_comment(json::string_view, Error&) { return true; }

 private:
  struct Frame {
    json::value value;
    std::string key;  // of the member being read
  };

  bool Append(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool Open(json::value value) {
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool Close(Error& error) {
    json::value value = std::move(open_.back().value);
    open_.pop_back();
    return Put(std::move(value), error);
  }
  bool Put(json::value value, Error& error) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = open_.back();
    if (json::array* array = frame.value.if_array()) {
      array->push_back(std::move(value));
      return true;
    }
    if (frame.value.get_object().emplace(frame.key, std::move(value)).second) return true;
    return Refuse(fmt::format("duplicate field \"{}\"", Path()), error);
  }
  bool Refuse(std::string why, Error& error) {
    refusal_ = std::move(why);
    error = json::error::syntax;
    return false;
  }
  std::string Path() const {
    std::string path;
    for (const Frame& frame : open_) {
      if (const json::array* array = frame.value.if_array()) {
        path += fmt::format("[{}]", array->size());
      } else {
        if (!path.empty()) path += '.';
        path += frame.key;
      }
    }
    return path;
  }

  std::vector<Frame> open_;
  std::string text_;
  json::value root_;
  std::string refusal_;
};

base::Error Explain(std::string_view bytes, std::size_t at, const json::error_code& error,
                    const std::string& refusal) {
  if (!refusal.empty()) return {base::Kind::kInvalid, kSyntaxId, "", refusal};
  const std::string_view before = bytes.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  if (error == json::error::too_deep) {
    return {base::Kind::kInvalid, kBoundId, "",
            fmt::format("JSON line {}: nested deeper than {} levels", line, kMaxDepth)};
  }
  return {base::Kind::kInvalid, kSyntaxId, "",
          fmt::format("JSON line {}: {}", line, error.message())};
}

}  // namespace

base::Result<json::value> ParseJson(std::string_view bytes) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<Builder> parser(options);
  json::error_code error;
  const std::size_t used = parser.write_some(false, bytes.data(), bytes.size(), error);
  if (!error && used < bytes.size()) {
    const auto rest = bytes.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) error = json::error::extra_data;
  }
  if (error) return std::unexpected(Explain(bytes, used, error, parser.handler().refusal()));
  return parser.handler().Take();
}

}  // namespace pondage::manifest
