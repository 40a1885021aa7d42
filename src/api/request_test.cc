// Queries, media types, routes and selectors: what the server reads out of a request.
#include "api/request.h"

#include <gtest/gtest.h>

#include "api/media.h"
#include "api/route.h"
#include "api/select.h"

namespace pondage::api {
namespace {

TEST(Query, DecodesAndKnowsFalse) {
  const auto query = Query::Parse("a=1&b=x%20y+z&a=2&empty=&flag=True&no=FALSE&zero=0&bare");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->Get("b"), "x y z");
  EXPECT_EQ(query->All("a"), (std::vector<std::string>{"1", "2"}));
  struct Row {
    const char* name;
    bool on;
  };
  for (const Row& row : {Row{"flag", true}, Row{"no", false}, Row{"zero", false},
                         Row{"empty", true}, Row{"bare", true}, Row{"absent", false}}) {
    EXPECT_EQ(query->Flag(row.name), row.on) << row.name;
  }
  EXPECT_FALSE(Query::Parse("a=%zz"));
}

TEST(Request, PathsLoseTheirTrailingSlash) {
  EXPECT_EQ(MakeRequest("GET", "/api/")->path, "/api");
  EXPECT_EQ(MakeRequest("GET", "/")->path, "/");
  EXPECT_EQ(MakeRequest("GET", "/a%20b?x=1")->path, "/a b");
  EXPECT_FALSE(MakeRequest("GET", "http://x/"));
  EXPECT_FALSE(MakeRequest("GET", "/a%00b"));
}

TEST(Media, TakesTheFirstThatCanBeServed) {
  struct Row {
    const char* accept;
    int shape;  // -1: none
  };
  for (const Row& row : {
           Row{"", 0},
           Row{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 1},
           Row{"application/json;as=Table;v=v9;g=meta.k8s.io, application/json", 0},
           Row{"application/vnd.kubernetes.protobuf, application/json", 0},
           Row{"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", 2},
           Row{"text/html", -1},
           Row{"text/html, */*", 0},
       }) {
    const auto form = Negotiate(row.accept);
    EXPECT_EQ(form ? static_cast<int>(form->shape) : -1, row.shape) << row.accept;
  }
}

TEST(Route, NamesWhatIsAsked) {
  struct Row {
    const char* method;
    const char* target;
    const char* says;  // verb group/resource/subresource space name; empty: no resource
  };
  for (const Row& row : {
           Row{"GET", "/api/v1/namespaces", "list /namespaces/  "},
           Row{"GET", "/api/v1/namespaces/a", "get /namespaces/  a"},
           Row{"PATCH", "/api/v1/namespaces/a/status", "patch /namespaces/status  a"},
           Row{"GET", "/api/v1/namespaces/a/pods", "list /pods/ a "},
           Row{"GET", "/api/v1/pods?watch=1", "watch /pods/  "},
           Row{"GET", "/api/v1/namespaces/a/pods/p/log", "get /pods/log a p"},
           Row{"DELETE", "/api/v1/namespaces/a/pods", "deletecollection /pods/ a "},
           Row{"PUT", "/apis/kubeflow.org/v1/namespaces/a/tfjobs/j",
               "update kubeflow.org/tfjobs/ a j"},
           Row{"POST", "/apis/kubeflow.org/v1/namespaces/a/tfjobs/",
               "create kubeflow.org/tfjobs/ a "},
           Row{"GET", "/api/v1", ""},
           Row{"GET", "/apis/kubeflow.org/v1", ""},
           Row{"GET", "/metrics", ""},
           Row{"GET", "/api/v1/namespaces/a/pods/p/log/x", ""},
       }) {
    const auto route = RouteOf(*MakeRequest(row.method, row.target));
    std::string says;
    if (route) {
      says = std::string(VerbName(route->verb)) + " " + route->group + "/" + route->resource + "/" +
             route->subresource + " " + route->space + " " + route->name;
    }
    EXPECT_EQ(says, row.says) << row.target;
  }
}

TEST(Route, KnowsNoKindThatIsNotServedThere) {
  for (const char* target :
       {"/api/v1/namespaces/a/gizmos", "/apis/kubeflow.org/v2/tfjobs", "/api/v1/namespaces/a/nodes",
        "/api/v1/pods/p", "/apis/x.y/v1/tfjobs"}) {
    const auto route = RouteOf(*MakeRequest("GET", target));
    ASSERT_TRUE(route) << target;
    EXPECT_EQ(route->kind, nullptr) << target;
  }
}

Selection Select(const std::string& labels, const std::string& fields) {
  Request request;
  request.query.Set("labelSelector", labels);
  request.query.Set("fieldSelector", fields);
  auto selection = Selection::Of(request, *manifest::FindKind("", "pods"));
  EXPECT_TRUE(selection) << labels << " " << fields;
  return selection ? *selection : Selection();
}

TEST(Selection, MatchesFacetsWithoutParsing) {
  const std::string facets =
      "f:metadata.name=p\nf:metadata.namespace=a\nf:spec.nodeName=\nf:status.phase=Running\n"
      "l:app=web\nl:n=5\n";
  struct Row {
    const char* labels;
    const char* fields;
    bool matches;
  };
  for (const Row& row : {
           Row{"", "", true},
           Row{"app", "", true},
           Row{"!app", "", false},
           Row{"app=web,n>4", "", true},
           Row{"n<5", "", false},
           Row{"app in (db,web)", "", true},
           Row{"app notin (web)", "", false},
           Row{"other!=x", "", true},
           Row{"other notin (x)", "", true},
           Row{"other=x", "", false},
           Row{"", "status.phase=Running", true},
           Row{"", "status.phase!=Running", false},
           Row{"", "spec.nodeName=", true},
           Row{"", "spec.nodeName!=", false},
           Row{"app=web", "metadata.name=p,metadata.namespace=a", true},
           Row{"app=web", "metadata.name=q", false},
       }) {
    EXPECT_EQ(Select(row.labels, row.fields).Matches(facets), row.matches)
        << row.labels << " " << row.fields;
  }
}

TEST(Selection, OffersTheStoreOneLine) {
  EXPECT_EQ(Select("app=web,x!=y", "").Facet(), "l:app=web");
  EXPECT_FALSE(Select("app=web,x!=y", "").FacetSuffices());
  EXPECT_TRUE(Select("app=web", "").FacetSuffices());
  EXPECT_EQ(Select("app=web", "metadata.name=p").Facet(), "f:metadata.name=p");
  EXPECT_EQ(Select("x!=y", "").Facet(), "");
}

}  // namespace
}  // namespace pondage::api
