//go:build ignore

// Prints, for one object of each kind, the bytes that a Go client sends and its JSON: the samples of
// src/manifest/testdata/protobuf.txt. In a module with k8s.io/api and k8s.io/apimachinery v0.32.3:
//
//	go run protobuf_samples.go > protobuf.txt
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"bytes"
	authv1 "k8s.io/api/authorization/v1"
	coord "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	sched "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func p[T any](v T) *T { return &v }

func main() {
	at := time.Date(2026, 1, 5, 10, 0, 0, 123456000, time.UTC)
	meta := func(n string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: n, Namespace: "ml", Labels: map[string]string{"a": "b", "e": ""}, Annotations: map[string]string{"x/y": "ä"},
			Finalizers: []string{"f.g/h"}, CreationTimestamp: metav1.NewTime(at), Generation: 3,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: "u", Controller: p(true)}}}
	}
	objs := []runtime.Object{
		&v1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "ml"}},
		&v1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta("c"), Immutable: p(false), Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 1, 255, 3}}},
		&v1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "s"}, Type: "Opaque", Data: map[string][]byte{"k": []byte("v"), "two": []byte("ab"), "none": {}}},
		&v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.PodSpec{
			TerminationGracePeriodSeconds: p(int64(0)), NodeSelector: map[string]string{"d": "f"}, RestartPolicy: "Never",
			SecurityContext: &v1.PodSecurityContext{RunAsUser: p(int64(7)), SupplementalGroups: []int64{1, 300}},
			Volumes: []v1.Volume{{Name: "e", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: p(resource.MustParse("1Gi"))}}},
				{Name: "c", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: "cm"}, DefaultMode: p(int32(420)), Items: []v1.KeyToPath{{Key: "k", Path: "p"}}}}}},
			Containers: []v1.Container{{Name: "tensorflow", Image: "i", Command: []string{"a", ""}, Ports: []v1.ContainerPort{{Name: "n", ContainerPort: 2222, Protocol: "TCP"}},
				Env:            []v1.EnvVar{{Name: "E", Value: "v"}, {Name: "F", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
				LivenessProbe:  &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}, PeriodSeconds: 5},
				ReadinessProbe: &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromString("n")}}},
				VolumeMounts:   []v1.VolumeMount{{Name: "e", MountPath: "/e", ReadOnly: true}},
				Resources:      v1.ResourceRequirements{Limits: v1.ResourceList{"nvidia.com/gpu": resource.MustParse("2"), "cpu": resource.MustParse("1500m")}}}}}},
		&v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}, ClusterIP: "None"}},
		&v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{"ReadWriteOnce"}, StorageClassName: p(""), Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": resource.MustParse("1Gi")}}}},
		&v1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: v1.ObjectReference{Kind: "Pod", Name: "p"}, Reason: "R", Message: "M", Source: v1.EventSource{Component: "c"}, FirstTimestamp: metav1.NewTime(at), Count: 2, Type: "Normal", EventTime: metav1.NewMicroTime(at)},
		&eventsv1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Name: "e"}, Note: "N", Reason: "R", EventTime: metav1.NewMicroTime(at), Regarding: v1.ObjectReference{Name: "p"}, ReportingController: "rc"},
		&coord.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: coord.LeaseSpec{HolderIdentity: p(""), LeaseDurationSeconds: p(int32(15)), RenewTime: p(metav1.NewMicroTime(at)), LeaseTransitions: p(int32(0))}},
		&sched.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}, Value: -5, Description: "d"},
		&authv1.SelfSubjectAccessReview{TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}, Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{Verb: "get", Resource: "pods"}}},
		&metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, GracePeriodSeconds: p(int64(0)), PropagationPolicy: p(metav1.DeletePropagationBackground), Preconditions: &metav1.Preconditions{ResourceVersion: p("12")}},
	}
	s := protobuf.NewSerializer(nil, nil)
	for _, o := range objs {
		var b bytes.Buffer
		if err := s.Encode(o, &b); err != nil {
			panic(err)
		}
		j, _ := json.Marshal(o)
		fmt.Printf("%x\n%s\n", b.Bytes(), j)
	}
}
