import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { alterConfigsHandler } from './alter-configs.ts'
import { apiVersionsHandler } from './api-versions.ts'
import { createPartitionsHandler } from './create-partitions.ts'
import { createTopicsHandler } from './create-topics.ts'
import { deleteGroupsHandler } from './delete-groups.ts'
import { deleteRecordsHandler } from './delete-records.ts'
import { deleteTopicsHandler } from './delete-topics.ts'
import { describeClusterHandler } from './describe-cluster.ts'
import { describeConfigsHandler } from './describe-configs.ts'
import { describeGroupsHandler } from './describe-groups.ts'
import { describeTopicPartitionsHandler } from './describe-topic-partitions.ts'
import { fetchHandler } from './fetch.ts'
import { findCoordinatorHandler } from './find-coordinator.ts'
import { heartbeatHandler } from './heartbeat.ts'
import { incrementalAlterConfigsHandler } from './incremental-alter-configs.ts'
import { initProducerIdHandler } from './init-producer-id.ts'
import { joinGroupHandler } from './join-group.ts'
import { leaveGroupHandler } from './leave-group.ts'
import { listGroupsHandler } from './list-groups.ts'
import { listOffsetsHandler } from './list-offsets.ts'
import { metadataHandler } from './metadata.ts'
import { offsetCommitHandler } from './offset-commit.ts'
import { offsetDeleteHandler } from './offset-delete.ts'
import { offsetFetchHandler } from './offset-fetch.ts'
import { offsetForLeaderEpochHandler } from './offset-for-leader-epoch.ts'
import { produceHandler } from './produce.ts'
import { syncGroupHandler } from './sync-group.ts'
import { updateFeaturesHandler } from './update-features.ts'

const makers: readonly ((services: BrokerServices) => ApiHandler)[] = [
  produceHandler,
  fetchHandler,
  listOffsetsHandler,
  metadataHandler,
  offsetCommitHandler,
  offsetFetchHandler,
  findCoordinatorHandler,
  joinGroupHandler,
  heartbeatHandler,
  leaveGroupHandler,
  syncGroupHandler,
  describeGroupsHandler,
  listGroupsHandler,
  createTopicsHandler,
  deleteTopicsHandler,
  deleteRecordsHandler,
  initProducerIdHandler,
  offsetForLeaderEpochHandler,
  describeConfigsHandler,
  alterConfigsHandler,
  createPartitionsHandler,
  deleteGroupsHandler,
  incrementalAlterConfigsHandler,
  offsetDeleteHandler,
  updateFeaturesHandler,
  describeClusterHandler,
  describeTopicPartitionsHandler,
]

/** The APIs that this broker serves, by key. What is here is what ApiVersions says. */
export function allHandlers(services: BrokerServices): ReadonlyMap<number, ApiHandler> {
  const handlers = new Map<number, ApiHandler>()
  for (const make of makers) {
    const handler = make(services)
    handlers.set(handler.apiKey, handler)
  }
  const versions = apiVersionsHandler(services, handlers)
  handlers.set(versions.apiKey, versions)
  return handlers
}
