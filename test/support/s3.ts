import { type CephGateway, startCephGateway } from './peers/ceph-gateway.ts'

type Hook = (work: () => Promise<void>) => void

/**
 * One S3 server for the tests of a file, with the environment of this process pointing to it; to be called with the
 * runner's hooks.
 */
export function useGateway(before: Hook, after: Hook): () => CephGateway {
  const endings: Array<() => Promise<void>> = []
  let gateway: CephGateway | undefined
  before(async () => {
    gateway = await startCephGateway({ after: work => void endings.unshift(work) })
    Object.assign(process.env, gateway.env)
  })
  after(async () => {
    for (const end of endings) await end()
  })
  return () => {
    if (!gateway) throw new Error('the gateway is not up yet')
    return gateway
  }
}
