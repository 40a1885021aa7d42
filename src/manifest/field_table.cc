// Made by tools/fields.py from the Go types of Kubernetes 0.32.3; the format is described there. Do
// not edit: change the tool and run it again. A test compares it with the Python client where that
// is installed.
#include "manifest/fields.h"

namespace pondage::manifest {

// clang-format off
static constexpr std::string_view kFields = R"(
AWSElasticBlockStoreVolumeSource volumeID:1!s fsType:2s partition:3i readOnly:4b
Affinity nodeAffinity:1?NodeAffinity podAffinity:2?PodAffinity podAntiAffinity:3?PodAntiAffinity
AppArmorProfile type:1!s localhostProfile:2?s
AttachedVolume name:1!s devicePath:2!s
AzureDiskVolumeSource diskName:1!s diskURI:2!s cachingMode:3?s fsType:4?s readOnly:5?b kind:6?s
AzureFileVolumeSource secretName:1!s shareName:2!s readOnly:3b
Binding apiVersion:0s kind:0s metadata:1ObjectMeta target:2!ObjectReference
BoundObjectReference kind:1s apiVersion:2s name:3s uid:4s
CSIVolumeSource driver:1!s readOnly:2?b fsType:3?s volumeAttributes:4%s
  nodePublishSecretRef:5?LocalObjectReference
Capabilities add:1*s drop:2*s
CephFSVolumeSource monitors:1*!s path:2s user:3s secretFile:4s secretRef:5?LocalObjectReference readOnly:6b
CinderVolumeSource volumeID:1!s fsType:2s readOnly:3b secretRef:4?LocalObjectReference
ClientIPConfig timeoutSeconds:1?i
ClusterTrustBundleProjection name:1?s signerName:2?s labelSelector:3?LabelSelector optional:5?b path:4!s
Condition type:1!s status:2!s observedGeneration:3i lastTransitionTime:4!t reason:5!s message:6!s
ConfigMap apiVersion:0s kind:0s metadata:1ObjectMeta immutable:4?b data:2%s binaryData:3%y
ConfigMapEnvSource LocalObjectReference:1<LocalObjectReference optional:2?b
ConfigMapKeySelector LocalObjectReference:1<LocalObjectReference key:2!s optional:3?b
ConfigMapNodeConfigSource namespace:1!s name:2!s uid:3s resourceVersion:4s kubeletConfigKey:5!s
ConfigMapProjection LocalObjectReference:1<LocalObjectReference items:2*KeyToPath optional:4?b
ConfigMapVolumeSource LocalObjectReference:1<LocalObjectReference items:2*KeyToPath defaultMode:3?i
  optional:4?b
Container name:1!s image:2s command:3*s args:4*s workingDir:5s ports:6*ContainerPort envFrom:19*EnvFromSource
  env:7*EnvVar resources:8ResourceRequirements resizePolicy:23*ContainerResizePolicy restartPolicy:24?s
  volumeMounts:9*VolumeMount volumeDevices:21*VolumeDevice livenessProbe:10?Probe readinessProbe:11?Probe
  startupProbe:22?Probe lifecycle:12?Lifecycle terminationMessagePath:13s terminationMessagePolicy:20s
  imagePullPolicy:14s securityContext:15?SecurityContext stdin:16b stdinOnce:17b tty:18b
ContainerImage names:1*!s sizeBytes:2i
ContainerPort name:1s hostPort:2i containerPort:3!i protocol:4s hostIP:5s
ContainerResizePolicy resourceName:1!s restartPolicy:2!s
ContainerState waiting:1?ContainerStateWaiting running:2?ContainerStateRunning
  terminated:3?ContainerStateTerminated
ContainerStateRunning startedAt:1t
ContainerStateTerminated exitCode:1!i signal:2i reason:3s message:4s startedAt:5t finishedAt:6t containerID:7s
ContainerStateWaiting reason:1s message:2s
ContainerStatus name:1!s state:2ContainerState lastState:3ContainerState ready:4!b restartCount:5!i image:6!s
  imageID:7!s containerID:8s started:9?b allocatedResources:10%q resources:11?ResourceRequirements
  volumeMounts:12*VolumeMountStatus user:13?ContainerUser allocatedResourcesStatus:14*ResourceStatus
ContainerUser linux:1?LinuxContainerUser
DaemonEndpoint Port:1!i
DeleteOptions apiVersion:0s kind:0s gracePeriodSeconds:1?i preconditions:2?Preconditions orphanDependents:3?b
  propagationPolicy:4?s dryRun:5*s ignoreStoreReadErrorWithClusterBreakingPotential:6?b
DownwardAPIProjection items:1*DownwardAPIVolumeFile
DownwardAPIVolumeFile path:1!s fieldRef:2?ObjectFieldSelector resourceFieldRef:3?ResourceFieldSelector
  mode:4?i
DownwardAPIVolumeSource items:1*DownwardAPIVolumeFile defaultMode:2?i
EmptyDirVolumeSource medium:1s sizeLimit:2?q
EnvFromSource prefix:1s configMapRef:2?ConfigMapEnvSource secretRef:3?SecretEnvSource
EnvVar name:1!s value:2s valueFrom:3?EnvVarSource
EnvVarSource fieldRef:1?ObjectFieldSelector resourceFieldRef:2?ResourceFieldSelector
  configMapKeyRef:3?ConfigMapKeySelector secretKeyRef:4?SecretKeySelector
EphemeralContainer EphemeralContainerCommon:1<EphemeralContainerCommon targetContainerName:2s
EphemeralContainerCommon name:1!s image:2s command:3*s args:4*s workingDir:5s ports:6*ContainerPort
  envFrom:19*EnvFromSource env:7*EnvVar resources:8ResourceRequirements resizePolicy:23*ContainerResizePolicy
  restartPolicy:24?s volumeMounts:9*VolumeMount volumeDevices:21*VolumeDevice livenessProbe:10?Probe
  readinessProbe:11?Probe startupProbe:22?Probe lifecycle:12?Lifecycle terminationMessagePath:13s
  terminationMessagePolicy:20s imagePullPolicy:14s securityContext:15?SecurityContext stdin:16b stdinOnce:17b
  tty:18b
EphemeralVolumeSource volumeClaimTemplate:1?PersistentVolumeClaimTemplate
Event apiVersion:0s kind:0s metadata:1!ObjectMeta involvedObject:2!ObjectReference reason:3s message:4s
  source:5EventSource firstTimestamp:6t lastTimestamp:7t count:8i type:9s eventTime:10u series:11?EventSeries
  action:12s related:13?ObjectReference reportingComponent:14!s reportingInstance:15!s
EventSeries count:1i lastObservedTime:2u
EventSource component:1s host:2s
EventsEvent apiVersion:0s kind:0s metadata:1!ObjectMeta eventTime:2!u series:3?EventsEventSeries
  reportingController:4s reportingInstance:5s action:6s reason:7s regarding:8ObjectReference
  related:9?ObjectReference note:10s type:11s deprecatedSource:12EventSource deprecatedFirstTimestamp:13t
  deprecatedLastTimestamp:14t deprecatedCount:15i
EventsEventSeries count:1!i lastObservedTime:2!u
Eviction apiVersion:0s kind:0s metadata:1ObjectMeta deleteOptions:2?DeleteOptions
ExecAction command:1*s
FCVolumeSource targetWWNs:1*s lun:2?i fsType:3s readOnly:4b wwids:5*s
FieldSelectorAttributes rawSelector:1s requirements:2*FieldSelectorRequirement
FieldSelectorRequirement key:1!s operator:2!s values:3*s
FlexVolumeSource driver:1!s fsType:2s secretRef:3?LocalObjectReference readOnly:4b options:5%s
FlockerVolumeSource datasetName:1s datasetUUID:2s
GCEPersistentDiskVolumeSource pdName:1!s fsType:2s partition:3i readOnly:4b
GRPCAction port:1!i service:2?!s
GitRepoVolumeSource repository:1!s revision:2s directory:3s
GlusterfsVolumeSource endpoints:1!s path:2!s readOnly:3b
HTTPGetAction path:1s port:2!x host:3s scheme:4s httpHeaders:5*HTTPHeader
HTTPHeader name:1!s value:2!s
HostAlias ip:1!s hostnames:2*s
HostIP ip:1!s
HostPathVolumeSource path:1!s type:2?s
ISCSIVolumeSource targetPortal:1!s iqn:2!s lun:3!i iscsiInterface:4s fsType:5s readOnly:6b portals:7*s
  chapAuthDiscovery:8b chapAuthSession:11b secretRef:10?LocalObjectReference initiatorName:12?s
ImageVolumeSource reference:1s pullPolicy:2s
KeyToPath key:1!s path:2!s mode:3?i
LabelSelector matchLabels:1%s matchExpressions:2*LabelSelectorRequirement
LabelSelectorAttributes rawSelector:1s requirements:2*LabelSelectorRequirement
LabelSelectorRequirement key:1!s operator:2!s values:3*s
Lease apiVersion:0s kind:0s metadata:1ObjectMeta spec:2LeaseSpec
LeaseSpec holderIdentity:1?s leaseDurationSeconds:2?i acquireTime:3?u renewTime:4?u leaseTransitions:5?i
  strategy:6?s preferredHolder:7?s
Lifecycle postStart:1?LifecycleHandler preStop:2?LifecycleHandler
LifecycleHandler exec:1?ExecAction httpGet:2?HTTPGetAction tcpSocket:3?TCPSocketAction sleep:4?SleepAction
LinuxContainerUser uid:1!i gid:2!i supplementalGroups:3*i
LoadBalancerIngress ip:1s hostname:2s ipMode:3?s ports:4*PortStatus
LoadBalancerStatus ingress:1*LoadBalancerIngress
LocalObjectReference name:1s
ManagedFieldsEntry manager:1s operation:2s apiVersion:3s time:4?t fieldsType:6s fieldsV1:7?r subresource:8s
ModifyVolumeStatus targetVolumeAttributesClassName:1s status:2!s
NFSVolumeSource server:1!s path:2!s readOnly:3b
Namespace apiVersion:0s kind:0s metadata:1ObjectMeta spec:2NamespaceSpec status:3NamespaceStatus
NamespaceCondition type:1!s status:2!s lastTransitionTime:4t reason:5s message:6s
NamespaceSpec finalizers:1*s
NamespaceStatus phase:1s conditions:2*NamespaceCondition
Node apiVersion:0s kind:0s metadata:1ObjectMeta spec:2NodeSpec status:3NodeStatus
NodeAddress type:1!s address:2!s
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:1?NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution:2*PreferredSchedulingTerm
NodeCondition type:1!s status:2!s lastHeartbeatTime:3t lastTransitionTime:4t reason:5s message:6s
NodeConfigSource configMap:2?ConfigMapNodeConfigSource
NodeConfigStatus assigned:1?NodeConfigSource active:2?NodeConfigSource lastKnownGood:3?NodeConfigSource
  error:4s
NodeDaemonEndpoints kubeletEndpoint:1DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:1?b
NodeRuntimeHandler name:1!s features:2?NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:1?b userNamespaces:2?b
NodeSelector nodeSelectorTerms:1*!NodeSelectorTerm
NodeSelectorRequirement key:1!s operator:2!s values:3*s
NodeSelectorTerm matchExpressions:1*NodeSelectorRequirement matchFields:2*NodeSelectorRequirement
NodeSpec podCIDR:1s podCIDRs:7*s providerID:3s unschedulable:4b taints:5*Taint configSource:6?NodeConfigSource
  externalID:2s
NodeStatus capacity:1%q allocatable:2%q phase:3s conditions:4*NodeCondition addresses:5*NodeAddress
  daemonEndpoints:6NodeDaemonEndpoints nodeInfo:7NodeSystemInfo images:8*ContainerImage volumesInUse:9*s
  volumesAttached:10*AttachedVolume config:11?NodeConfigStatus runtimeHandlers:12*NodeRuntimeHandler
  features:13?NodeFeatures
NodeSystemInfo machineID:1!s systemUUID:2!s bootID:3!s kernelVersion:4!s osImage:5!s
  containerRuntimeVersion:6!s kubeletVersion:7!s kubeProxyVersion:8!s operatingSystem:9!s architecture:10!s
NonResourceAttributes path:1s verb:2s
NonResourceRule verbs:1*!s nonResourceURLs:2*s
ObjectFieldSelector apiVersion:1s fieldPath:2!s
ObjectMeta name:1s generateName:2s namespace:3s selfLink:4s uid:5s resourceVersion:6s generation:7i
  creationTimestamp:8t deletionTimestamp:9?t deletionGracePeriodSeconds:10?i labels:11%s annotations:12%s
  ownerReferences:13*OwnerReference finalizers:14*s managedFields:17*ManagedFieldsEntry
ObjectReference kind:1s namespace:2s name:3s uid:4s apiVersion:5s resourceVersion:6s fieldPath:7s
OwnerReference apiVersion:5!s kind:1!s name:3!s uid:4!s controller:6?b blockOwnerDeletion:7?b
PersistentVolumeClaim apiVersion:0s kind:0s metadata:1ObjectMeta spec:2PersistentVolumeClaimSpec
  status:3PersistentVolumeClaimStatus
PersistentVolumeClaimCondition type:1!s status:2!s lastProbeTime:3t lastTransitionTime:4t reason:5s message:6s
PersistentVolumeClaimSpec accessModes:1*s selector:4?LabelSelector resources:2VolumeResourceRequirements
  volumeName:3s storageClassName:5?s volumeMode:6?s dataSource:7?TypedLocalObjectReference
  dataSourceRef:8?TypedObjectReference volumeAttributesClassName:9?s
PersistentVolumeClaimStatus phase:1s accessModes:2*s capacity:3%q conditions:4*PersistentVolumeClaimCondition
  allocatedResources:5%q allocatedResourceStatuses:7%s currentVolumeAttributesClassName:8?s
  modifyVolumeStatus:9?ModifyVolumeStatus
PersistentVolumeClaimTemplate metadata:1ObjectMeta spec:2!PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:1!s readOnly:2b
PhotonPersistentDiskVolumeSource pdID:1!s fsType:2s
Pod apiVersion:0s kind:0s metadata:1ObjectMeta spec:2PodSpec status:3PodStatus
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:1*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2*WeightedPodAffinityTerm
PodAffinityTerm labelSelector:1?LabelSelector namespaces:2*s topologyKey:3!s namespaceSelector:4?LabelSelector
  matchLabelKeys:5*s mismatchLabelKeys:6*s
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:1*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2*WeightedPodAffinityTerm
PodCondition type:1!s status:2!s lastProbeTime:3t lastTransitionTime:4t reason:5s message:6s
PodDNSConfig nameservers:1*s searches:2*s options:3*PodDNSConfigOption
PodDNSConfigOption name:1s value:2?s
PodIP ip:1!s
PodOS name:1!s
PodReadinessGate conditionType:1!s
PodResourceClaim name:1!s resourceClaimName:3?s resourceClaimTemplateName:4?s
PodResourceClaimStatus name:1!s resourceClaimName:2?s
PodSchedulingGate name:1!s
PodSecurityContext seLinuxOptions:1?SELinuxOptions windowsOptions:8?WindowsSecurityContextOptions
  runAsUser:2?i runAsGroup:6?i runAsNonRoot:3?b supplementalGroups:4*i supplementalGroupsPolicy:12?s
  fsGroup:5?i sysctls:7*Sysctl fsGroupChangePolicy:9?s seccompProfile:10?SeccompProfile
  appArmorProfile:11?AppArmorProfile seLinuxChangePolicy:13?s
PodSpec volumes:1*Volume initContainers:20*Container containers:2*!Container
  ephemeralContainers:34*EphemeralContainer restartPolicy:3s terminationGracePeriodSeconds:4?i
  activeDeadlineSeconds:5?i dnsPolicy:6s nodeSelector:7%s serviceAccountName:8s serviceAccount:9s
  automountServiceAccountToken:21?b nodeName:10s hostNetwork:11b hostPID:12b hostIPC:13b
  shareProcessNamespace:27?b securityContext:14?PodSecurityContext imagePullSecrets:15*LocalObjectReference
  hostname:16s subdomain:17s affinity:18?Affinity schedulerName:19s tolerations:22*Toleration
  hostAliases:23*HostAlias priorityClassName:24s priority:25?i dnsConfig:26?PodDNSConfig
  readinessGates:28*PodReadinessGate runtimeClassName:29?s enableServiceLinks:30?b preemptionPolicy:31?s
  overhead:32%q topologySpreadConstraints:33*TopologySpreadConstraint setHostnameAsFQDN:35?b os:36?PodOS
  hostUsers:37?b schedulingGates:38*PodSchedulingGate resourceClaims:39*PodResourceClaim
  resources:40?ResourceRequirements
PodStatus phase:1s conditions:2*PodCondition message:3s reason:4s nominatedNodeName:11s hostIP:5s
  hostIPs:16*HostIP podIP:6s podIPs:12*PodIP startTime:7?t initContainerStatuses:10*ContainerStatus
  containerStatuses:8*ContainerStatus qosClass:9s ephemeralContainerStatuses:13*ContainerStatus resize:14s
  resourceClaimStatuses:15*PodResourceClaimStatus
PortStatus port:1!i protocol:2!s error:3?s
PortworxVolumeSource volumeID:1!s fsType:2s readOnly:3b
Preconditions uid:1?s resourceVersion:2?s
PreferredSchedulingTerm weight:1!i preference:2!NodeSelectorTerm
PriorityClass apiVersion:0s kind:0s metadata:1ObjectMeta value:2!i globalDefault:3b description:4s
  preemptionPolicy:5?s
Probe ProbeHandler:1<ProbeHandler initialDelaySeconds:2i timeoutSeconds:3i periodSeconds:4i
  successThreshold:5i failureThreshold:6i terminationGracePeriodSeconds:7?i
ProbeHandler exec:1?ExecAction httpGet:2?HTTPGetAction tcpSocket:3?TCPSocketAction grpc:4?GRPCAction
ProjectedVolumeSource sources:1*!VolumeProjection defaultMode:2?i
QuobyteVolumeSource registry:1!s volume:2!s readOnly:3b user:4s group:5s tenant:6s
RBDVolumeSource monitors:1*!s image:2!s fsType:3s pool:4s user:5s keyring:6s secretRef:7?LocalObjectReference
  readOnly:8b
ResourceAttributes namespace:1s verb:2s group:3s version:4s resource:5s subresource:6s name:7s
  fieldSelector:8?FieldSelectorAttributes labelSelector:9?LabelSelectorAttributes
ResourceClaim name:1!s request:2s
ResourceFieldSelector containerName:1s resource:2!s divisor:3q
ResourceHealth resourceID:1!s health:2s
ResourceRequirements limits:1%q requests:2%q claims:3*ResourceClaim
ResourceRule verbs:1*!s apiGroups:2*s resources:3*s resourceNames:4*s
ResourceStatus name:1!s resources:2*ResourceHealth
SELinuxOptions user:1s role:2s type:3s level:4s
ScaleIOVolumeSource gateway:1!s system:2!s secretRef:3?!LocalObjectReference sslEnabled:4b protectionDomain:5s
  storagePool:6s storageMode:7s volumeName:8s fsType:9s readOnly:10b
SeccompProfile type:1!s localhostProfile:2?s
Secret apiVersion:0s kind:0s metadata:1ObjectMeta immutable:5?b data:2%y stringData:4%s type:3s
SecretEnvSource LocalObjectReference:1<LocalObjectReference optional:2?b
SecretKeySelector LocalObjectReference:1<LocalObjectReference key:2!s optional:3?b
SecretProjection LocalObjectReference:1<LocalObjectReference items:2*KeyToPath optional:4?b
SecretVolumeSource secretName:1s items:2*KeyToPath defaultMode:3?i optional:4?b
SecurityContext capabilities:1?Capabilities privileged:2?b seLinuxOptions:3?SELinuxOptions
  windowsOptions:10?WindowsSecurityContextOptions runAsUser:4?i runAsGroup:8?i runAsNonRoot:5?b
  readOnlyRootFilesystem:6?b allowPrivilegeEscalation:7?b procMount:9?s seccompProfile:11?SeccompProfile
  appArmorProfile:12?AppArmorProfile
SelfSubjectAccessReview apiVersion:0s kind:0s metadata:1ObjectMeta spec:2!SelfSubjectAccessReviewSpec
  status:3SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes:1?ResourceAttributes
  nonResourceAttributes:2?NonResourceAttributes
SelfSubjectReview apiVersion:0s kind:0s metadata:1ObjectMeta status:2SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo:1UserInfo
SelfSubjectRulesReview apiVersion:0s kind:0s metadata:1ObjectMeta spec:2!SelfSubjectRulesReviewSpec
  status:3SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace:1s
Service apiVersion:0s kind:0s metadata:1ObjectMeta spec:2ServiceSpec status:3ServiceStatus
ServiceAccount apiVersion:0s kind:0s metadata:1ObjectMeta secrets:2*ObjectReference
  imagePullSecrets:3*LocalObjectReference automountServiceAccountToken:4?b
ServiceAccountTokenProjection audience:1s expirationSeconds:2?i path:3!s
ServicePort name:1s protocol:2s appProtocol:6?s port:3!i targetPort:4x nodePort:5i
ServiceSpec ports:1*ServicePort selector:2%s clusterIP:3s clusterIPs:18*s type:4s externalIPs:5*s
  sessionAffinity:7s loadBalancerIP:8s loadBalancerSourceRanges:9*s externalName:10s externalTrafficPolicy:11s
  healthCheckNodePort:12i publishNotReadyAddresses:13b sessionAffinityConfig:14?SessionAffinityConfig
  ipFamilies:19*s ipFamilyPolicy:17?s allocateLoadBalancerNodePorts:20?b loadBalancerClass:21?s
  internalTrafficPolicy:22?s trafficDistribution:23?s
ServiceStatus loadBalancer:1LoadBalancerStatus conditions:2*Condition
SessionAffinityConfig clientIP:1?ClientIPConfig
SleepAction seconds:1!i
StorageOSVolumeSource volumeName:1s volumeNamespace:2s fsType:3s readOnly:4b secretRef:5?LocalObjectReference
SubjectAccessReviewStatus allowed:1!b denied:4b reason:2s evaluationError:3s
SubjectRulesReviewStatus resourceRules:1*!ResourceRule nonResourceRules:2*!NonResourceRule incomplete:3!b
  evaluationError:4s
Sysctl name:1!s value:2!s
TCPSocketAction port:1!x host:2s
Taint key:1!s value:2s effect:3!s timeAdded:4?t
TokenRequest apiVersion:0s kind:0s metadata:1ObjectMeta spec:2!TokenRequestSpec status:3TokenRequestStatus
TokenRequestSpec audiences:1*!s expirationSeconds:4?!i boundObjectRef:3?!BoundObjectReference
TokenRequestStatus token:1!s expirationTimestamp:2!t
Toleration key:1s operator:2s value:3s effect:4s tolerationSeconds:5?i
TopologySpreadConstraint maxSkew:1!i topologyKey:2!s whenUnsatisfiable:3!s labelSelector:4?LabelSelector
  minDomains:5?i nodeAffinityPolicy:6?s nodeTaintsPolicy:7?s matchLabelKeys:8*s
TypedLocalObjectReference apiGroup:1?!s kind:2!s name:3!s
TypedObjectReference apiGroup:1?!s kind:2!s name:3!s namespace:4?s
UserInfo username:1s uid:2s groups:3*s extra:0%r
Volume name:1!s VolumeSource:2<VolumeSource
VolumeDevice name:1!s devicePath:2!s
VolumeMount name:1!s readOnly:2b recursiveReadOnly:7?s mountPath:3!s subPath:4s mountPropagation:5?s
  subPathExpr:6s
VolumeMountStatus name:1!s mountPath:2!s readOnly:3b recursiveReadOnly:4?s
VolumeProjection secret:1?SecretProjection downwardAPI:2?DownwardAPIProjection configMap:3?ConfigMapProjection
  serviceAccountToken:4?ServiceAccountTokenProjection clusterTrustBundle:5?ClusterTrustBundleProjection
VolumeResourceRequirements limits:1%q requests:2%q
VolumeSource hostPath:1?HostPathVolumeSource emptyDir:2?EmptyDirVolumeSource
  gcePersistentDisk:3?GCEPersistentDiskVolumeSource awsElasticBlockStore:4?AWSElasticBlockStoreVolumeSource
  gitRepo:5?GitRepoVolumeSource secret:6?SecretVolumeSource nfs:7?NFSVolumeSource iscsi:8?ISCSIVolumeSource
  glusterfs:9?GlusterfsVolumeSource persistentVolumeClaim:10?PersistentVolumeClaimVolumeSource
  rbd:11?RBDVolumeSource flexVolume:12?FlexVolumeSource cinder:13?CinderVolumeSource
  cephfs:14?CephFSVolumeSource flocker:15?FlockerVolumeSource downwardAPI:16?DownwardAPIVolumeSource
  fc:17?FCVolumeSource azureFile:18?AzureFileVolumeSource configMap:19?ConfigMapVolumeSource
  vsphereVolume:20?VsphereVirtualDiskVolumeSource quobyte:21?QuobyteVolumeSource
  azureDisk:22?AzureDiskVolumeSource photonPersistentDisk:23?PhotonPersistentDiskVolumeSource
  projected:26?ProjectedVolumeSource portworxVolume:24?PortworxVolumeSource scaleIO:25?ScaleIOVolumeSource
  storageos:27?StorageOSVolumeSource csi:28?CSIVolumeSource ephemeral:29?EphemeralVolumeSource
  image:30?ImageVolumeSource
VsphereVirtualDiskVolumeSource volumePath:1!s fsType:2s storagePolicyName:3s storagePolicyID:4s
WeightedPodAffinityTerm weight:1!i podAffinityTerm:2!PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName:1?s gmsaCredentialSpec:2?s runAsUserName:3?s
  hostProcess:4?b
TFJob apiVersion:0s kind:0s metadata:0ObjectMeta spec:0TFJobSpec status:0r
TFJobSpec enableDynamicWorker:0b runPolicy:0RunPolicy successPolicy:0s tfReplicaSpecs:0%ReplicaSpec
ReplicaSpec replicas:0i restartPolicy:0s template:0ReplicaTemplate
ReplicaTemplate metadata:0TemplateMeta spec:0PodSpec
TemplateMeta annotations:0%s finalizers:0*s labels:0%s name:0s namespace:0s
RunPolicy activeDeadlineSeconds:0i backoffLimit:0i cleanPodPolicy:0s managedBy:0s
  schedulingPolicy:0SchedulingPolicy suspend:0b ttlSecondsAfterFinished:0i
SchedulingPolicy minAvailable:0i minResources:0%q priorityClass:0s queue:0s scheduleTimeoutSeconds:0i
Queue apiVersion:0s kind:0s metadata:0ObjectMeta spec:0QueueSpec status:0r
QueueSpec parent:0s display:0s guarantee:0%q limit:0%q closed:0b held:0b maxRunSeconds:0i
)";
// clang-format on

std::string_view FieldTable() {
  return kFields;
}

}  // namespace pondage::manifest
