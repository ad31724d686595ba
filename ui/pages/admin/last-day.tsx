import { useMemo } from 'preact/hooks'
import { Chart } from '../../components/chart.tsx'
import { Await, Card } from '../../components/page.tsx'
import { ask } from '../../lib/api.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { bytes, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'

interface Point {
  readonly time: string
  readonly requests: number
  readonly failures: number
  readonly signIns: number
  readonly refusedSignIns: number
  readonly storedBytes: number
}

interface History {
  readonly points: readonly Point[]
  readonly contexts: ReadonlyArray<{ readonly context: string; readonly bytes: ReadonlyArray<number | null> }>
}

interface NamedHistory extends History {
  readonly names: ReadonlyMap<string, string>
}

async function loadHistory(signal: AbortSignal): Promise<NamedHistory> {
  const { points, contexts } = await ask<History>('management/history', { signal })
  // The system contexts hold users and contexts, not files.
  const history = { points, contexts: contexts.filter(({ context }) => !context.startsWith('_')) }
  const name = async (context: string): Promise<readonly [string, string]> => [
    context,
    // The context may have been deleted meanwhile.
    await loadContext(context, signal).then(contextTitle, () => context),
  ]
  return { ...history, names: new Map(await Promise.all(history.contexts.map(({ context }) => name(context)))) }
}

/** Graphs of requests, sign-ins, storage and the fullest contexts over the last day. */
export function LastDay() {
  const [loaded, again] = useLoaded(loadHistory, [])
  return (
    <Card title={t('lastDay')}>
      <p class="muted small">{t('lastDayText')}</p>
      <Await loaded={loaded} again={again}>
        {history => <Charts history={history} />}
      </Await>
    </Card>
  )
}

function Charts({ history: { points, contexts, names } }: { readonly history: NamedHistory }) {
  const charts = useMemo(() => {
    const all = (member: Exclude<keyof Point, 'time'>): number[] => points.map(point => point[member])
    return {
      times: points.map(({ time }) => new Date(time)),
      requests: [
        { name: t('graphAnswered'), values: all('requests') },
        { name: t('graphFailed'), values: all('failures') },
      ],
      signIns: [
        { name: t('graphSucceeded'), values: all('signIns') },
        { name: t('graphRefused'), values: all('refusedSignIns') },
      ],
      stored: [{ name: t('stored'), values: all('storedBytes') }],
      fullest: contexts.map(({ context, bytes: values }) => ({ name: visible(names.get(context) ?? context), values })),
    }
  }, [points, contexts, names])
  const { times, requests, signIns, stored, fullest } = charts
  return (
    <div class="charts">
      <Chart title={t('graphRequests')} times={times} series={requests} tell={number} />
      <Chart title={t('graphSignIns')} times={times} series={signIns} tell={number} />
      <Chart title={t('graphStored')} times={times} series={stored} tell={bytes} />
      {fullest.length > 0 && <Chart title={t('graphFullest')} times={times} series={fullest} tell={bytes} />}
    </div>
  )
}
