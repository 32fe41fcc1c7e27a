import type { RaftResponse } from './messages.ts'

/** The answer without what older versions cannot carry. */
export function inVersion(answer: RaftResponse, apiVersion: number): RaftResponse {
  switch (answer.api) {
    case 'fetch':
      return apiVersion >= 16 ? answer : { ...answer, response: { ...answer.response, nodeEndpoints: [] } }
    case 'vote':
      return apiVersion >= 1 ? answer : { ...answer, response: { ...answer.response, nodeEndpoints: [] } }
    case 'beginQuorumEpoch':
    case 'endQuorumEpoch':
      return apiVersion >= 1 ? answer : { ...answer, response: { ...answer.response, nodeEndpoints: [] } }
    case 'fetchSnapshot':
      return apiVersion >= 1 ? answer : { ...answer, response: { ...answer.response, nodeEndpoints: [] } }
    default:
      return answer
  }
}
