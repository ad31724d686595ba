import { join, resolve } from 'node:path'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import { DiskSpace, releaseReserve } from '../stores/disk.ts'
import { openToOthers } from '../stores/host-limits.ts'
import { placeOf } from '../stores/postgres/postgres-pool.ts'

/** True when this node keeps data in its data folder. */
export const usesFolder = (settings: Settings): boolean =>
  settings['service.repository.store.url'] === undefined || settings['service.data.store'] === 'folder'

/** Describes where rows and files are kept, for people; without passwords. */
export function dataPlace(settings: Settings, folder: string): string {
  const url = settings['service.repository.store.url']
  const files = settings['service.data.store']
  const rows = url === undefined ? folder : `PostgreSQL at ${placeOf(url)}`
  if (files === 'folder') return url === undefined ? folder : `${rows}, its files in ${folder}`
  return `${rows}, its files in ${files}`
}

/**
 * Watches the disk of the data folder, and logs a warning when other users can read the folder. Returns `undefined` when the folder is not used.
 */
export async function openDisk(settings: Settings, log: Log): Promise<DiskSpace | undefined> {
  if (!usesFolder(settings)) return undefined
  const folder = resolve(settings['service.data.folder'])
  for (const path of await exposedPaths(folder)) {
    log.warn({ path }, 'other users of this machine can read or change the data: run chmod go-rwx on this path')
  }
  return await DiskSpace.open({ folder, log })
}

/** Makes room on a full disk before the stores are opened. */
export async function makeRoomForStart(settings: Settings, log: Log): Promise<void> {
  if (!usesFolder(settings)) return
  const freed = await releaseReserve(resolve(settings['service.data.folder']))
  if (freed > 0) log.warn({ freed }, 'the disk is full: the reserve was released for the start')
}

/** A folder that other users cannot enter protects everything in it. */
export async function exposedPaths(folder: string): Promise<readonly string[]> {
  const isOpen = (await openToOthers([folder])).length > 0
  return isOpen ? [folder, ...(await openToOthers([join(folder, 'store.sqlite'), join(folder, 'files')]))] : []
}
