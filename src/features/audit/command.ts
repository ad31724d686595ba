import { auditEvents } from '../../accounts/audit.ts'
import { isoTime, parseTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Program, UsageError } from '../../core/command.ts'
import { type Answer, type Call, family } from '../../core/operator-command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'

const PAGE = 1000

export const auditCommand = (program: Program) =>
  family(program, 'audit', 'Prints events of the audit log, the latest first, also while the service runs.', {
    export: { options: ['user', 'event', 'since', 'until'], run: exportEvents },
  })

async function exportEvents({ audit, system }: OperatorStore, { option }: Call): Promise<Answer> {
  const name = option('event')
  const event = auditEvents.find(known => known === name)
  if (name !== undefined && event === undefined)
    throw new UsageError(`--event must be one of ${auditEvents.join(', ')}, but is "${name}".`)
  // Without an end, new events would move the pages.
  const until = readTime('until', option('until')) ?? system.now()
  const filter = { userText: option('user'), event, since: readTime('since', option('since')), until }
  return { each: pages(offset => audit.list({ ...filter, limit: PAGE, offset })) }
}

async function* pages(read: (offset: number) => ReturnType<OperatorStore['audit']['list']>) {
  for (let offset = 0; ; offset += PAGE) {
    const events = await read(offset)
    for (const { time, ...event } of events) {
      const json = { time: isoTime(time), ...event }
      const { userName, userId, actorId, address, detail } = event
      const parts = [json.time, event.event, userName ?? userId ?? '-', actorId ?? '-', address ?? '-']
      yield { json, line: [...parts, JSON.stringify(detail ?? {})].join('  ') }
    }
    if (events.length < PAGE) return
  }
}

function readTime(name: string, text: string | undefined): Milliseconds | undefined {
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time !== undefined) return time
  throw new UsageError(`--${name} must be a date such as 2027-01-31, or a time with a zone, but is "${text}".`)
}
