#include "manifest/protobuf.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <optional>
#include <string>

#include "base/utf8.h"
#include "manifest/data.h"
#include "manifest/fields.h"
#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

using google::protobuf::io::CodedInputStream;

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 50;

enum Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

CodedInputStream StreamOf(std::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

// One field as it stands on the wire.
struct Item {
  int number = 0;
  std::uint32_t wire = 0;
  std::uint64_t varint = 0;
  std::string_view bytes;  // of kBytes
};

// The fields of one message, one after the other.
class Items {
 public:
  explicit Items(std::string_view bytes) : bytes_(bytes), stream_(StreamOf(bytes)) {}

  bool Next(Item& item) {
    const std::uint32_t tag = stream_.ReadTag();
    if (tag == 0) {
      good_ = stream_.ConsumedEntireMessage();
      return false;
    }
    item = {.number = static_cast<int>(tag >> 3), .wire = tag & 7};
    good_ = item.number > 0 && Read(item);
    return good_;
  }
  // After Next() said false: whether that was the end.
  bool good() const { return good_; }

 private:
  bool Read(Item& item) {
    std::uint32_t length = 0;
    switch (item.wire) {
      case kVarint:
        return stream_.ReadVarint64(&item.varint);
      case kFixed64:
        return stream_.Skip(8);
      case kFixed32:
        return stream_.Skip(4);
      case kBytes:
        break;
      default:
        return false;  // groups are not used
    }
    if (!stream_.ReadVarint32(&length)) return false;
    const auto at = static_cast<std::size_t>(stream_.CurrentPosition());
    if (length > bytes_.size() - at) return false;
    item.bytes = bytes_.substr(at, length);
    return stream_.Skip(static_cast<int>(length));
  }

  std::string_view bytes_;
  CodedInputStream stream_;
  bool good_ = true;
};

// Values of the small messages that JSON writes as one scalar; none: malformed.
using MaybeValue = std::optional<json::value>;

MaybeValue DecodeTime(std::string_view bytes, bool with_micros) {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  Items items(bytes);
  for (Item item; items.Next(item);) {
    if (item.wire != kVarint) continue;
    if (item.number == 1) seconds = static_cast<std::int64_t>(item.varint);
    if (item.number == 2) nanos = static_cast<std::int32_t>(item.varint);
  }
  constexpr std::int64_t kFar = 1'000'000'000'000;
  if (!items.good() || seconds > kFar || seconds < -kFar || nanos < 0 || nanos > 999'999'999) {
    return std::nullopt;
  }
  if (bytes.empty()) return json::value(nullptr);
  std::string text = FormatTime(base::Instant{seconds * 1000});
  if (with_micros) text = fmt::format("{}.{:06}Z", text.substr(0, text.size() - 1), nanos / 1000);
  return json::value(json::string(text));
}

MaybeValue DecodeText(std::string_view bytes) {
  if (!base::IsUtf8(bytes)) return std::nullopt;
  return json::value(json::string(bytes));
}

MaybeValue DecodeQuantity(std::string_view bytes) {
  MaybeValue value = json::value(json::string("0"));
  Items items(bytes);
  for (Item item; items.Next(item);) {
    if (item.number == 1 && item.wire == kBytes) value = DecodeText(item.bytes);
  }
  return items.good() ? value : std::nullopt;
}

MaybeValue DecodeIntOrString(std::string_view bytes) {
  bool is_text = false;
  MaybeValue text = json::value(json::string());
  std::int64_t number = 0;
  Items items(bytes);
  for (Item item; items.Next(item);) {
    if (item.number == 1 && item.wire == kVarint) is_text = item.varint == 1;
    if (item.number == 2 && item.wire == kVarint) number = static_cast<std::int32_t>(item.varint);
    if (item.number == 3 && item.wire == kBytes) text = DecodeText(item.bytes);
  }
  if (!items.good()) return std::nullopt;
  return is_text ? text : json::value(number);
}

MaybeValue DecodeRaw(std::string_view bytes) {
  std::string_view raw;
  Items items(bytes);
  for (Item item; items.Next(item);) {
    if (item.number == 1 && item.wire == kBytes) raw = item.bytes;
  }
  if (!items.good()) return std::nullopt;
  if (raw.empty()) return json::value(nullptr);
  auto value = ParseJson(raw);
  if (!value) return std::nullopt;
  return *std::move(value);
}

bool DecodeMessage(const Message& message, std::string_view bytes, json::object& out, int depth);

MaybeValue DecodeScalar(char scalar, const Item& item) {
  if (scalar == 'i' || scalar == 'b') {
    if (item.wire != kVarint) return std::nullopt;
    if (scalar == 'b') return json::value(item.varint != 0);
    return json::value(static_cast<std::int64_t>(item.varint));
  }
  if (item.wire != kBytes) return std::nullopt;
  switch (scalar) {
    case 's':
      return DecodeText(item.bytes);
    case 'y':
      return json::value(json::string(ToBase64(item.bytes)));
    case 't':
      return DecodeTime(item.bytes, false);
    case 'u':
      return DecodeTime(item.bytes, true);
    case 'q':
      return DecodeQuantity(item.bytes);
    case 'x':
      return DecodeIntOrString(item.bytes);
    case 'r':
      return DecodeRaw(item.bytes);
    default:
      return std::nullopt;
  }
}

MaybeValue DecodeOne(const Field& field, const Item& item, int depth) {
  if (field.message == nullptr) return DecodeScalar(field.scalar, item);
  if (item.wire != kBytes) return std::nullopt;
  json::object object;
  if (!DecodeMessage(*field.message, item.bytes, object, depth + 1)) return std::nullopt;
  return json::value(std::move(object));
}

// One entry of a map: {1 key, 2 value}.
bool DecodeEntry(const Field& field, const Item& entry, json::object& map, int depth) {
  if (entry.wire != kBytes) return false;
  std::string_view key;
  Item value{.number = 2, .wire = kBytes};
  Items items(entry.bytes);
  for (Item item; items.Next(item);) {
    if (item.number == 1 && item.wire == kBytes) key = item.bytes;
    if (item.number == 2) value = item;
  }
  if (!items.good() || !base::IsUtf8(key)) return false;
  MaybeValue decoded = DecodeOne(field, value, depth);
  if (!decoded) return false;
  map[key] = *std::move(decoded);
  return true;
}

// Whole numbers of a list may come one by one or packed into one field.
bool DecodeElement(const Field& field, const Item& item, json::array& list, int depth) {
  if (field.scalar == 'i' && item.wire == kBytes) {
    CodedInputStream packed = StreamOf(item.bytes);
    while (packed.CurrentPosition() < static_cast<int>(item.bytes.size())) {
      std::uint64_t number = 0;
      if (!packed.ReadVarint64(&number)) return false;
      list.push_back(static_cast<std::int64_t>(number));
    }
    return true;
  }
  MaybeValue value = DecodeOne(field, item, depth);
  if (!value) return false;
  list.push_back(*std::move(value));
  return true;
}

// Go writes every plain scalar, so zero stands for "not set".
bool IsZero(const json::value& value) {
  if (value.is_null()) return true;
  if (value.is_string()) return value.get_string().empty();
  if (value.is_int64()) return value.get_int64() == 0;
  if (value.is_bool()) return !value.get_bool();
  return value.is_object() && value.get_object().empty();
}

bool DecodeField(const Field& field, const Item& item, json::object& out, int depth) {
  if (field.inlined) {
    return item.wire == kBytes && DecodeMessage(*field.message, item.bytes, out, depth + 1);
  }
  if (field.list) {
    json::value& list = out[field.name];
    if (!list.is_array()) list.emplace_array();
    return DecodeElement(field, item, list.get_array(), depth);
  }
  if (field.map) {
    json::value& map = out[field.name];
    if (!map.is_object()) map.emplace_object();
    return DecodeEntry(field, item, map.get_object(), depth);
  }
  MaybeValue value = DecodeOne(field, item, depth);
  if (!value) return false;
  if (field.pointer || field.always || !IsZero(*value)) out[field.name] = *std::move(value);
  return true;
}

bool DecodeMessage(const Message& message, std::string_view bytes, json::object& out, int depth) {
  if (depth > kMaxDepth) return false;
  Items items(bytes);
  for (Item item; items.Next(item);) {
    const Field* field = message.FindNumber(item.number);
    if (field != nullptr && !DecodeField(*field, item, out, depth)) return false;
  }
  return items.good();
}

struct Envelope {
  std::string api_version, kind;
  std::string_view raw;
  bool encoded = false;  // contentEncoding is set
};

std::optional<Envelope> OpenEnvelope(std::string_view bytes) {
  Envelope envelope;
  Items items(bytes);
  for (Item item; items.Next(item);) {
    if (item.wire != kBytes) continue;
    if (item.number == 2) envelope.raw = item.bytes;
    if (item.number == 3) envelope.encoded = !item.bytes.empty();
    if (item.number != 1) continue;
    Items type(item.bytes);
    for (Item part; type.Next(part);) {
      if (part.number == 1) envelope.api_version = part.bytes;
      if (part.number == 2) envelope.kind = part.bytes;
    }
    if (!type.good()) return std::nullopt;
  }
  if (!items.good()) return std::nullopt;
  return envelope;
}

}  // namespace

base::Result<json::object> DecodeProtobuf(std::string_view bytes, std::string_view kind) {
  const auto refuse = [](std::string why) {
    return base::Fail(base::Kind::kInvalid, kProtobufId, "", std::move(why));
  };
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!bytes.starts_with(kMagic) || bytes.size() > kMost) {
    return refuse("the body is not a Kubernetes protobuf message");
  }
  auto envelope = OpenEnvelope(bytes.substr(kMagic.size()));
  if (!envelope || envelope->encoded || !base::IsUtf8(envelope->api_version) ||
      !base::IsUtf8(envelope->kind)) {
    return refuse("the envelope of the protobuf message is malformed");
  }
  if (envelope->kind.empty()) envelope->kind = kind;
  const bool other_event =
      envelope->kind == "Event" && envelope->api_version.starts_with("events.k8s.io/");
  const Message* message = FindMessage(other_event ? "EventsEvent" : envelope->kind);
  if (message == nullptr || message->FindNumber(1) == nullptr) {
    return refuse(fmt::format("{} has no protobuf form here", Shown(json::value(envelope->kind))));
  }
  json::object out;
  if (!envelope->api_version.empty()) out["apiVersion"] = envelope->api_version;
  out["kind"] = envelope->kind;
  if (!DecodeMessage(*message, envelope->raw, out, 0)) {
    return refuse(fmt::format("the protobuf message of this {} is malformed", envelope->kind));
  }
  return out;
}

}  // namespace pondage::manifest
