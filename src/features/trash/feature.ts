import { feature, offer, offerReads } from '../../core/feature.ts'
import { readRoutes, trashRoutes } from './routes.ts'
import { trashEvents } from './events.ts'
import { trashSettings } from './settings.ts'
import { Trash, type TrashOptions } from './trash.ts'
import { TrashList } from './trash-list.ts'

const DAY = 86_400_000

const optionsOf = (settings: { readonly 'service.trash.days': number }): TrashOptions => ({
  retention: settings['service.trash.days'] * DAY,
})

export const trash = feature({
  name: 'trash',
  events: trashEvents,
  settings: trashSettings,
  reads: {
    routes: readRoutes,
    offers: ({ database, settings }) =>
      offerReads({ trashList: new TrashList(database, optionsOf(settings)) }, readRoutes),
  },
  routes: trashRoutes,
  open: core => {
    const trash = new Trash(core, optionsOf(core.settings))
    return { services: { trash }, offers: offer({ trash }, trashRoutes), jobs: [['trash', () => trash.expire()]] }
  },
})
