import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Process, type Start, startProcess } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { eventually } from './waiting.ts'

type Settings = Readonly<Record<string, string>>

interface ReloadLine {
  readonly level: string
  readonly msg: string
  readonly settings?: readonly string[]
  readonly reason?: string
}

export interface Reloadable extends Process {
  /** Where the test may keep files. */
  readonly place: string
  /** Writes the settings, sends SIGHUP and resolves to the lines of the log about it. */
  reload(settings: Settings): Promise<readonly ReloadLine[]>
}

const isOutcome = ({ msg }: ReloadLine): boolean => /^settings read again|^the settings cannot be applied/.test(msg)

/** A service whose settings are in a file. @param start `settings` are those of the command line, which stay */
export async function startReloadable(
  t: { after(work: () => Promise<void>): void },
  settings: Settings,
  start: Start = {},
): Promise<Reloadable> {
  const place = await temporaryFolder()
  const file = join(place, 'service.properties')
  const write = async (all: Settings): Promise<void> =>
    await writeFile(
      file,
      Object.entries(all)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    )
  await write(settings)
  const service = await startProcess(t, { ...start, env: { ...start.env, SERVICE_CONFIG: file } })
  const lines = () => service.log<ReloadLine>()
  const reload = async (next: Settings): Promise<readonly ReloadLine[]> => {
    const before = lines().length
    const since = (): ReloadLine[] => lines().slice(before)
    await write(next)
    process.kill(service.pid, 'SIGHUP')
    await eventually('the settings have been read again', () => since().some(isOutcome))
    return since().filter(line => isOutcome(line) || line.settings !== undefined)
  }
  return { ...service, place, reload }
}
