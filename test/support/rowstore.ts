import type { ServerResponse } from 'node:http'
import { type Heard, type Listener, listen } from './listener.ts'

interface Dataset {
  rows: string
  alias: string | undefined
}

/** Stands in for a RowStore: it keeps CSV files under ids, and answers as RowStore 1.10 does. */
export interface RowStoreStandIn extends Listener {
  /** By their addresses. */
  readonly datasets: ReadonlyMap<string, Dataset>
  /** Creates datasets below another URL than the one that is asked. */
  baseUrl: string
  /** In place of the usual status of every answer. */
  status: number | undefined
  /** No request is answered before this. */
  held: Promise<void>
}

export async function startRowStore(t: { after(work: () => Promise<void>): void }): Promise<RowStoreStandIn> {
  const datasets = new Map<string, Dataset>()
  const reply = ({ method, url, body }: Heard): { status: number; location?: string } => {
    if (method === 'POST' && url.pathname === '/datasets') {
      const id = `00000000-0000-4000-8000-${String(datasets.size).padStart(12, '0')}`
      const location = `${standIn.baseUrl}/dataset/${id}`
      datasets.set(location, { rows: body, alias: undefined })
      return { status: 202, location }
    }
    const [, address = '', aliases] = /^(.*?)(\/aliases)?$/.exec(url.href) ?? []
    const dataset = datasets.get(address)
    if (!dataset) return { status: 404 }
    if (aliases !== undefined) {
      const [alias] = method === 'DELETE' ? [] : (JSON.parse(body) as string[])
      const isTaken = alias !== undefined && [...datasets.values()].some(one => one !== dataset && one.alias === alias)
      if (!isTaken) dataset.alias = alias
      return { status: isTaken ? 400 : 200 }
    }
    if (method === 'DELETE') datasets.delete(address)
    else dataset.rows = method === 'PUT' ? body : dataset.rows + body
    return { status: method === 'DELETE' ? 200 : 202 }
  }
  const answer = async (heard: Heard, response: ServerResponse): Promise<void> => {
    await standIn.held
    if (heard.method === 'GET') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ status: 3, columnnames: ['a', 'b'], aliases: [] }))
      return
    }
    const { status, location } = standIn.status === undefined ? reply(heard) : { status: standIn.status }
    response.writeHead(status, location === undefined ? {} : { location }).end('{}')
  }
  const listener = await listen(t, (heard, response) => void answer(heard, response))
  const standIn: RowStoreStandIn = {
    ...listener,
    datasets,
    baseUrl: listener.origin,
    status: undefined,
    held: Promise.resolve(),
  }
  return standIn
}
