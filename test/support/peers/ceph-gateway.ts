import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import type { Peer } from './peer.ts'
import { freePort, type PeerProcess, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

const cluster = fileURLToPath(new URL('./ceph-cluster.sh', import.meta.url))
const programs = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool']
// A cluster takes ten seconds on a machine with nothing else to do.
const patience = 120_000

export const cephGateway: Peer = {
  name: 'Ceph with radosgw',
  available: () => programs.every(name => existsSync(`/usr/bin/${name}`)),
}

export interface CephGateway {
  readonly url: string
  /** Of a bucket that is there. */
  readonly bucket: string
  /** What a process needs to use it. */
  readonly env: Readonly<Record<string, string>>
  /** Connections are taken, and nothing is answered any more. */
  freeze(): void
  thaw(): void
  /** Ends the gateway at once, as a crash would; the objects are elsewhere. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** An S3 server, with its objects in memory. */
export async function startCephGateway(t: Test): Promise<CephGateway> {
  const [port, monitorPort] = [await freePort(), await freePort()]
  const [access, secret, bucket] = ['stowage-tests', 'not-a-secret-of-anybody', 'stowage-tests']
  const url = `http://127.0.0.1:${port}`
  const osd = await startInNewFolder(t, folder =>
    startPeerProcess({
      command: '/bin/bash',
      args: [cluster, String(port), String(monitorPort), access, secret],
      env: {},
      folder,
      ready: async () => existsSync(join(folder, 'ready')),
      patience,
    }),
  )
  let gateway: PeerProcess | undefined
  const start = async (): Promise<void> => {
    gateway = await startPeerProcess({
      command: '/usr/bin/radosgw',
      args: ['-c', 'ceph.conf', '-f', '-n', 'client.rgw'],
      env: {},
      folder: osd.folder,
      ready: async () => (await fetch(url)).ok,
      patience,
    })
  }
  const signal = (name: NodeJS.Signals): void => void (gateway && process.kill(-gateway.pid, name))
  const kill = async (): Promise<void> => {
    signal('SIGKILL')
    await gateway?.stop()
    gateway = undefined
  }
  t.after(kill)
  await start()
  const client = new S3Client({
    endpoint: url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: access, secretAccessKey: secret },
  })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  client.destroy()
  const env = { AWS_ENDPOINT_URL_S3: url, AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret }
  return {
    url,
    bucket,
    env: { ...env, AWS_REGION: 'us-east-1' },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    kill,
    start,
    stop: async () => {
      await kill()
      await osd.stop()
    },
  }
}
