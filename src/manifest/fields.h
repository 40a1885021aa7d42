// The names, types and protobuf numbers of the fields of every kind that is served.
//
// Pure, constant. The table is made by tools/fields.py (see there for its text form). Walks go as
// deep as the value they are given, which the parsers bound.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "job/validate.h"

namespace pondage::manifest {

struct Message;

struct Field {
  std::string_view name;
  int number = 0;        // in protobuf; 0: never there
  bool pointer = false;  // zero is a value
  bool always = false;   // written even when zero
  bool list = false;
  bool map = false;      // from strings
  bool inlined = false;  // its members stand in the owner's JSON
  char scalar = 0;       // s i b y t u q x r as in tools/fields.py; 0: `message`
  const Message* message = nullptr;
};

struct Message {
  std::string_view name;
  std::vector<Field> fields;

  // The member of this name in JSON, also of what is inlined; nullptr when there is none.
  const Field* Find(std::string_view member) const;
  const Field* FindNumber(int number) const;
};

// "TFJob", "Pod", "ObjectMeta"; `EventsEvent` is the Event of events.k8s.io.
const Message* FindMessage(std::string_view name);

// Members that the kind does not have, as "spec.tfReplicaSpecs.Worker.foo"; at most a hundred. Null
// members are not told. An unknown kind has none.
std::vector<std::string> UnknownFields(std::string_view kind, const boost::json::object& object);
void Prune(std::string_view kind, boost::json::object& object);

// Members whose value has not their type; at most a hundred.
std::vector<job::FieldError> WrongTypes(std::string_view kind, const boost::json::object& object);

// The table's text (field_table.cc).
std::string_view FieldTable();

}  // namespace pondage::manifest
